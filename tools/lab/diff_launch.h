#pragma once

#include <filesystem>

#include <warpmat/machine/launch.h>

namespace warpmat {

/// `warpmat diff LAUNCH.json`: runs a whole kernel on the emulator and on this machine's GPU, and compares every byte of every buffer and
/// the printed text; the emulator looks for what `checks` say. Throws std::runtime_error where something differs, NoGpu without a GPU.
void diff_launch(const std::filesystem::path& file, const Checks& checks);

}  // namespace warpmat
