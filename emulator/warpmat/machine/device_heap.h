#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include <warpmat/machine/byte_set.h>
#include <warpmat/version.h>

namespace warpmat {

class DeviceMemory;

/// The memory of which kernels get parts by malloc(), a range of addresses. It stays from launch to launch. Threads may use it at once.
///
/// At least one byte that belongs to no part lies behind each. A part that is free again gets another owner as late as the room allows, so
/// that later accesses to it are found.
class WARPMAT_API DeviceHeap {
 public:
  DeviceHeap(std::uint64_t address, std::uint64_t bytes) : first_(address), next_(address), free_{{address, bytes}}, live_(bytes) {}

  /// Of its first byte.
  std::uint64_t address() const { return first_; }
  /// The address of `bytes` bytes, a multiple of 16; 0 if no free range has room for them.
  std::uint64_t allocate(std::uint64_t bytes);
  /// Returns false if no part that is in use begins at `address`; 0 is free always.
  bool free(std::uint64_t address);

  /// The offsets of the bytes of all parts in use.
  const ByteSet& live() const { return live_; }
  /// Where an address lies: "4 bytes beyond the end of 40 bytes that malloc() gave at 0x7f0000000000".
  std::string describe(std::uint64_t address) const;
  /// The parts in use: their bytes by address.
  std::map<std::uint64_t, std::uint64_t> parts() const;

 private:
  using Ranges = std::map<std::uint64_t, std::uint64_t>;  ///< bytes by address

  Ranges::iterator find_room(std::uint64_t needed);

  const std::uint64_t first_;
  std::uint64_t next_;          ///< where the search for room begins
  Ranges free_, used_, freed_;  ///< no two free ranges touch; used and freed ones as they were asked for
  ByteSet live_;
  mutable std::mutex mutex_;
};

/// That of `memory`, a buffer there. The first call allocates it: launch() makes one before a kernel that needs the heap.
WARPMAT_API DeviceHeap& heap_of(DeviceMemory& memory);
/// The same if it is there already; else nullptr.
WARPMAT_API const DeviceHeap* find_heap(const DeviceMemory& memory);

}  // namespace warpmat
