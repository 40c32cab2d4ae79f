#pragma once

#include <cstdint>

namespace warpmat::cuda {

/// cudaIpcMemHandle_t and cudaIpcEventHandle_t: bytes that one process gives to another.
struct IpcHandle {
  std::uint8_t bytes[64];
};

}  // namespace warpmat::cuda
