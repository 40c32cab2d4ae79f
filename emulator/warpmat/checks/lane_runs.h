#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <warpmat/observer.h>
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

/// How many lanes from `lane` on access each the bytes behind those of the lane before. `place_of(lane)` is a pointer or an offset.
template <typename Place>
int consecutive_from(LaneMask lanes, int lane, std::uint32_t bytes, Place place_of) {
  int end = lane + 1;
  while (end < warp_size && (lanes >> end & 1) != 0 && place_of(end) == place_of(end - 1) + bytes) ++end;
  return end - lane;
}

/// Calls visit(lane, lanes) for each run of lanes that access consecutive bytes; with `once`, not where the run before has accessed them.
template <typename Place, typename Visit>
void for_each_run(LaneMask lanes, std::uint32_t bytes, bool once, Place place_of, Visit visit) {
  int last = -1, last_count = 0;
  for (LaneMask rest = lanes; rest != 0;) {
    const int lane = first_lane(rest), count = consecutive_from(lanes, lane, bytes, place_of);
    rest &= ~((~LaneMask{0} >> (warp_size - count)) << lane);
    if (once && last >= 0 && count <= last_count && place_of(lane) == place_of(last)) continue;
    visit(lane, count);
    last = lane;
    last_count = count;
  }
}

/// What the lanes of a warp access in a block's shared memory by one statement.
struct SharedAccess {
  std::uint32_t statement = 0, clock = 0, bytes = 0;
  LaneMask lanes = 0;
  std::array<std::uint32_t, warp_size> offsets;
};

/// Of an access to shared memory: the lanes that are in this block's.
inline SharedAccess shared_access(const machine::AccessEvent& event, const std::uint8_t* shared, std::size_t size) {
  SharedAccess access;
  access.statement = event.event.statement();
  access.bytes = event.bytes;
  access.lanes = event.event.lanes();
  const auto offset_of = [&](std::size_t lane) {
    return reinterpret_cast<std::uintptr_t>(event.places[lane]) - reinterpret_cast<std::uintptr_t>(shared);
  };
  bool outside = false;
  for (std::size_t lane = 0; lane < access.offsets.size(); ++lane) {
    access.offsets[lane] = static_cast<std::uint32_t>(offset_of(lane));
    outside |= offset_of(lane) >= size;
  }
  for (std::size_t lane = 0; outside && lane < access.offsets.size(); ++lane)
    if (offset_of(lane) >= size) access.lanes &= ~lane_bit(static_cast<int>(lane));
  return access;
}

}  // namespace warpmat::checks
