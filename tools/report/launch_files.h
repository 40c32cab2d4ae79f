#pragma once

#include <filesystem>

#include "gpu/runners/kernel_runner.h"

namespace warpmat {

/// Writes a launch as files that `warpmat launch` and `warpmat diff` take: `path` NAME.launch.json, and beside it NAME.ptx and
/// NAME.BUFFER.npy. Throws std::runtime_error.
void write_launch(const std::filesystem::path& path, const KernelLaunch& launch);

}  // namespace warpmat
