// Branches, and lanes that exit.

#include <fmt/core.h>

#include <warpmat/machine/block.h>
#include <warpmat/machine/operations.h>

namespace warpmat::machine {

using code::Operation;

Step body::branch(WarpState& warp, const Operation& operation, LaneMask taken) {
  Split& s = warp.split();
  if (taken == s.lanes) {
    s.pc = operation.target;
    return Step::next;
  }
  if (taken != 0) {
    if (operation.converges_at >= 0) warp.converge_at(operation.converges_at);
    warp.separate(taken).pc = operation.target;
  }
  return warp.advance();
}

Step body::branch_table(WarpState& warp, const Operation& operation, LaneMask mask) {
  const auto& table = warp.program().of<code::BranchTable>(operation);
  const std::uint32_t* const index = warp.at<std::uint32_t>(warp.source_slot(operation, 0));
  // Handles each target as a branch of its own.
  Operation one = operation;
  while (true) {
    const int lane = first_lane(mask);
    if (index[lane] >= table.size())
      warp.trap(lane, std::nullopt, fmt::format("brx.idx with index {}: the list has {} targets", index[lane], table.size()));
    LaneMask taken = 0;
    for (int i = 0; i < warp_size; ++i)
      if ((mask & lane_bit(i)) != 0 && index[i] == index[lane]) taken |= lane_bit(i);
    one.target = table[index[lane]];
    if (taken == warp.split().lanes) return branch(warp, one, taken);
    const std::int32_t pc = warp.split().pc;
    branch(warp, one, taken);
    warp.split().pc = pc;
    mask &= ~taken;
    if (mask == 0) {  // lanes whose guard is false continue
      return warp.advance();
    }
  }
}

Step body::exit(WarpState& warp, const Operation&, LaneMask mask) {
  if (waits_for_sums(warp, mask) && !warp.block().has_reservation()) return Step::needs_reservation;
  finish_bulk_stores(warp, mask);
  const bool gone = warp.end_lanes(mask);
  arrive_without_exited(warp);
  return gone ? Step::leave_split : Step::next;
}

}  // namespace warpmat::machine
