#pragma once

#include <cstddef>

#include <warpmat/warp.h>

namespace warpmat::machine {

/// Calls visit(lane) for each lane of the mask, in ascending order.
template <typename Visit>
void for_each_lane(LaneMask mask, Visit visit) {
  if (mask == all_lanes) {
    for (int lane = 0; lane < warp_size; ++lane) visit(static_cast<std::size_t>(lane));
  } else {
    for (; mask != 0; mask &= mask - 1) visit(static_cast<std::size_t>(first_lane(mask)));
  }
}

/// The lanes for which holds(lane) is true.
template <typename Holds>
LaneMask lanes_where(Holds holds) {
  LaneMask lanes = 0;
  for (std::size_t lane = 0; lane < warp_size; ++lane) lanes |= static_cast<LaneMask>(holds(lane)) << lane;
  return lanes;
}

}  // namespace warpmat::machine
