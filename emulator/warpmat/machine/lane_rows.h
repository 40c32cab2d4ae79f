#pragma once

#include <algorithm>

#include <warpmat/warp.h>

namespace warpmat::inline v0_1::machine {

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

}  // namespace warpmat::inline v0_1::machine
