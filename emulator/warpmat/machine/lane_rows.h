#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <warpmat/ir/code.h>
#include <warpmat/warp.h>

namespace warpmat::machine {

inline constexpr std::size_t word_row = warp_size * 4, wide_row = 2 * word_row;  ///< bytes of a register

/// Gives the lanes of `mask` one value. All lanes are the common case, and a copy that every compiler makes vectors of.
template <typename T>
void fill_lanes(T* row, T value, LaneMask mask) {
  if (mask == all_lanes) {
    std::fill_n(row, warp_size, value);
  } else {
    for (int lane = 0; lane < warp_size; ++lane) row[lane] = (mask >> lane & 1) != 0 ? value : row[lane];
  }
}

/// Gives the lanes of `mask` their values.
template <typename T>
void copy_lanes(T* row, const T* values, LaneMask mask) {
  if (mask == all_lanes) {
    std::copy_n(values, warp_size, row);
  } else {
    for (int lane = 0; lane < warp_size; ++lane) row[lane] = (mask >> lane & 1) != 0 ? values[lane] : row[lane];
  }
}

/// The same for a register of any class.
inline void copy_lanes(code::RegisterClass register_class, void* row, const void* values, LaneMask mask) {
  switch (register_class) {
    case code::RegisterClass::word: return copy_lanes(static_cast<std::uint32_t*>(row), static_cast<const std::uint32_t*>(values), mask);
    case code::RegisterClass::wide: return copy_lanes(static_cast<std::uint64_t*>(row), static_cast<const std::uint64_t*>(values), mask);
    case code::RegisterClass::quad:  // 8 bytes of each lane, then the next 8
      copy_lanes(static_cast<std::uint64_t*>(row), static_cast<const std::uint64_t*>(values), mask);
      return copy_lanes(static_cast<std::uint64_t*>(row) + warp_size, static_cast<const std::uint64_t*>(values) + warp_size, mask);
    case code::RegisterClass::predicate: {
      LaneMask& out = *static_cast<LaneMask*>(row);
      out = (out & ~mask) | (*static_cast<const LaneMask*>(values) & mask);
    }
  }
}

}  // namespace warpmat::machine
