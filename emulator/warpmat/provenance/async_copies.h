#pragma once

#include <cstdint>

#include <warpmat/machine/internals.h>
#include <warpmat/machine/warp_state.h>

namespace warpmat::provenance {

/// Calls visit(lane, address, size, bytes) for each lane of a cp.async, at its access of shared memory: `size` bytes come from `address` in
/// global memory, the rest of the `bytes` that are written is zero.
template <typename Visit>
void for_each_copied(const machine::AccessEvent& event, const code::Program& program, Visit visit) {
  const code::Operation& operation = operation_of(event.event);
  const machine::WarpState& warp = warp_of(event.event);
  const auto& access = program.of<code::CopyAccess>(operation);
  const code::Slot slot = warp.source_slot(operation, 1);
  for (LaneMask rest = event.event.lanes(); rest != 0; rest &= rest - 1) {
    const int lane = first_lane(rest);
    const std::uint64_t base = access.narrow_source ? warp.at<std::uint32_t>(slot)[lane] : warp.at<std::uint64_t>(slot)[lane];
    std::uint32_t size = access.has_source_size ? warp.source_word(operation, 2, lane) : access.bytes;
    if (access.ignores_source && (*warp.at<LaneMask>(warp.source_slot(operation, 2)) & lane_bit(lane)) != 0) size = 0;
    visit(lane, base + static_cast<std::uint64_t>(access.source_offset), size, std::uint32_t{access.bytes});
  }
}

}  // namespace warpmat::provenance
