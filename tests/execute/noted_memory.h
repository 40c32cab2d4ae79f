#pragma once

// Memories of warps behind callbacks, which note each call.

#include <warpmat/instruction.h>

#include <cstring>
#include <vector>

#include "execute/warp_arrays.h"

namespace warpmat {

struct NotedAccess {
  bool write = false;
  std::size_t warp = 0;
  int lane = 0;
  std::uint64_t address = 0;
  std::size_t bytes = 0;
  friend bool operator==(const NotedAccess&, const NotedAccess&) = default;
};

struct NotedMemory {
  WarpArrays* warps = nullptr;
  std::uint64_t base = 0;
  std::size_t refused = SIZE_MAX;  ///< the number of the call that is refused
  int refused_lane = -1;
  std::vector<NotedAccess> log{};

  RowMemory callbacks() {
    const auto read = [](void* user, std::size_t warp, int lane, std::uint64_t address, std::uint8_t* row, std::size_t bytes) {
      std::uint8_t* const place = static_cast<NotedMemory*>(user)->place({false, warp, lane, address, bytes});
      if (place != nullptr) std::memcpy(row, place, bytes);
      return place != nullptr;
    };
    const auto write = [](void* user, std::size_t warp, int lane, std::uint64_t address, const std::uint8_t* row, std::size_t bytes) {
      std::uint8_t* const place = static_cast<NotedMemory*>(user)->place({true, warp, lane, address, bytes});
      if (place != nullptr) std::memcpy(place, row, bytes);
      return place != nullptr;
    };
    return {read, write, this, base, WarpArrays::memory_bytes};
  }

 private:
  /// Where the bytes are; nullptr if the call is refused.
  std::uint8_t* place(const NotedAccess& access) {
    log.push_back(access);
    if (log.size() - 1 == refused || access.lane == refused_lane) return nullptr;
    return warps->memory_of(access.warp).data() + (access.address - base);
  }
};

}  // namespace warpmat
