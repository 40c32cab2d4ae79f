#pragma once

#include <cstdint>
#include <map>

#include <warpmat/version.h>

namespace warpmat {

class DeviceMemory;

/// The memory of which kernels get parts by malloc(), a range of addresses. It stays from launch to launch.
class WARPMAT_API DeviceHeap {
 public:
  DeviceHeap(std::uint64_t address, std::uint64_t bytes) : free_{{address, bytes}} {}

  /// The address of `bytes` bytes, a multiple of 16; 0 if no free range has as many.
  std::uint64_t allocate(std::uint64_t bytes);
  /// Returns false if no part that is in use begins at `address`; 0 is free always.
  bool free(std::uint64_t address);

 private:
  std::map<std::uint64_t, std::uint64_t> free_, used_;  ///< bytes by address; no two free ranges touch
};

/// That of `memory`, a buffer there. The first call allocates it: launch() makes one before a kernel that needs the heap.
WARPMAT_API DeviceHeap& heap_of(DeviceMemory& memory);

}  // namespace warpmat
