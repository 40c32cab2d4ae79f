#pragma once

#include <cstddef>
#include <cstdint>

#include <warpmat/scalar/lane_offsets.h>
#include <warpmat/warp.h>

namespace warpmat::checks {

/// Calls visit(offset, bytes) for each run of the lanes.
template <typename Visit>
void for_each_run(const scalar::LanePlaces& lanes, std::uint32_t bytes, Visit visit) {
  for (std::uint32_t rest = lanes.range.runs; rest != 0;) {
    const int lane = first_lane(rest);
    rest &= rest - 1;
    const int next = rest == 0 ? warp_size : first_lane(rest);
    visit(std::size_t{lanes.offsets[lane]}, static_cast<std::size_t>(next - lane) * bytes);
  }
}

}  // namespace warpmat::checks
