#pragma once

#include <bit>
#include <cstdint>

#include <warpmat/export.h>

namespace warpmat {

/// A set of lanes of a warp, or the predicate register of a warp: bit i is lane i.
using LaneMask = std::uint32_t;

WARPMAT_LOCAL inline constexpr LaneMask all_lanes = 0xffffffff;

inline constexpr LaneMask lane_bit(int lane) {
  return LaneMask{1} << lane;
}

/// The lowest lane of a mask that is not empty.
inline constexpr int first_lane(LaneMask mask) {
  return std::countr_zero(mask);
}

}  // namespace warpmat
