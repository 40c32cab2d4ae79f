#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "gpu/runners/kernel_runner.h"

namespace warpmat {

/// What a launch left in a buffer of it on another machine.
struct ExpectedBuffer {
  std::size_t buffer = 0;  ///< of KernelLaunch::buffers
  std::vector<std::uint8_t> bytes;
  std::string type;  ///< "f32", as PTX calls it; its size divides that of the buffer
};

/// Writes a launch as files for `warpmat launch` and `warpmat diff`: `path` NAME.launch.json, and next to it NAME.ptx, NAME.BUFFER.npy,
/// NAME.assembler of an assembler's decisions and, of what is expected, NAME.BUFFER.expected. Throws std::runtime_error.
void write_launch(const std::filesystem::path& path, const KernelLaunch& launch, const std::vector<ExpectedBuffer>& expected = {});

}  // namespace warpmat
