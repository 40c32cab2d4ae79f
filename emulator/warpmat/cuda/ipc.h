#pragma once

#include <cstdint>

namespace warpmat::inline v0_1::cuda {

/// cudaIpcMemHandle_t and cudaIpcEventHandle_t: bytes that one process gives to another.
struct IpcHandle {
  std::uint8_t bytes[64];
};

}  // namespace warpmat::inline v0_1::cuda
