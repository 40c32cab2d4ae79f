#pragma once

#include <filesystem>

#include "gpu/programs/archive.h"
#include "gpu/programs/compared_launch.h"
#include "gpu/programs/recorded_launch.h"

namespace warpmat {

/// Writes a recorded launch that differs as launch.json, with its memory at its addresses; each buffer that differs is expected to be as
/// the GPU left it. Throws std::runtime_error.
void save_launch(const std::filesystem::path& path, const programs::ArchiveReader& archive, const programs::RecordedLaunch& launch,
                 const programs::Comparison& comparison);

}  // namespace warpmat
