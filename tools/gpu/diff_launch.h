#pragma once

#include <filesystem>

#include <warpmat/launch.h>

namespace warpmat {

/// `warpmat diff LAUNCH.json`: runs a whole kernel on the emulator and on this machine's GPU, and compares every byte of every buffer and
/// the printed text. The emulator performs `checks`. Throws std::runtime_error if something differs, NoGpu without a GPU.
void diff_launch(const std::filesystem::path& file, const Checks& checks);

}  // namespace warpmat
