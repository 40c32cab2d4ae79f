#pragma once

#include <filesystem>

#include "gpu/runners/kernel_runner.h"

namespace warpmat {

/// Writes a launch as files for `warpmat launch` and `warpmat diff`: `path` NAME.launch.json, and next to it NAME.ptx and NAME.BUFFER.npy.
/// Throws std::runtime_error.
void write_launch(const std::filesystem::path& path, const KernelLaunch& launch);

}  // namespace warpmat
