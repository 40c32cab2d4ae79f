#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <warpmat/observer.h>
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

/// Calls visit(lane) for each lane of the mask, in the order in which a store of `bytes` bytes of each lane writes: what is written last
/// stays. An H200 stores 128 bytes at a time, of as many lanes as have them; of those of them with one address the first one's value stays
/// (lab/notebook/2026-11-29-python-frameworks.md).
template <typename Visit>
void for_each_storing_lane(LaneMask mask, std::size_t bytes, Visit visit) {
  constexpr std::size_t at_a_time = 128;
  const auto lanes = static_cast<int>(at_a_time / std::max<std::size_t>(bytes, at_a_time / warp_size));
  const auto visit_all = [&](auto stores) {
    for (int end = lanes; end <= warp_size; end += lanes)
      for (int lane = end; lane-- != end - lanes;)
        if (stores(lane)) visit(static_cast<std::size_t>(lane));
  };
  if (mask == all_lanes)
    visit_all([](int) { return true; });
  else
    visit_all([&](int lane) { return (mask >> lane & 1) != 0; });
}

/// Of the lanes that store, those whose value stays where several store to one place. Of an atomic, whose lanes follow each other: all.
inline LaneMask lanes_that_stay(const AccessEvent& event) {
  if (event.reads || event.consecutive) return event.event.lanes();
  LaneMask stay = 0;
  for_each_storing_lane(event.event.lanes(), event.bytes, [&](std::size_t lane) {
    for (LaneMask rest = stay; rest != 0; rest &= rest - 1)
      if (event.places[static_cast<std::size_t>(first_lane(rest))] == event.places[lane]) stay &= ~lane_bit(first_lane(rest));
    stay |= lane_bit(static_cast<int>(lane));
  });
  return stay;
}

/// The lanes for which holds(lane) is true. The loop over bytes becomes vectors, and a product collects eight of them.
template <typename Holds>
LaneMask lanes_where(Holds holds) {
  static_assert(std::endian::native == std::endian::little);
  std::array<std::uint8_t, warp_size> held;
  for (std::size_t lane = 0; lane < warp_size; ++lane) held[lane] = static_cast<std::uint8_t>(holds(lane));
  LaneMask lanes = 0;
  for (std::size_t first = 0; first < warp_size; first += 8) {
    std::uint64_t eight;
    std::memcpy(&eight, held.data() + first, sizeof eight);
    lanes |= static_cast<LaneMask>(eight * 0x0102040810204080 >> 56) << first;
  }
  return lanes;
}

}  // namespace warpmat::machine
