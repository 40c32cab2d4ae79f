// The lanes of a warp in the program: strands of lanes that execute together, how branches separate them and where they meet again.
//
// A branch whose lanes disagree makes two strands of one, and notes in a Join where they meet: at the branch's post-dominator. A strand
// that comes there waits until all lanes of the join have come or exited. Strands take turns, so a lane that waits in a loop for another
// lane of its warp does not keep that one from running; if that other lane waits at a join, it is released from there after a while.

#include <algorithm>

#include <fmt/core.h>

#include <warpmat/machine/block.h>
#include <warpmat/machine/warp_state.h>

namespace warpmat::machine {

using code::Operation;

void WarpState::remove_strand() {
  strands_.erase(strands_.begin() + static_cast<std::ptrdiff_t>(current_));
  if (current_ >= strands_.size()) current_ = 0;
}

WarpState::Step WarpState::branch(const Operation& operation, LaneMask taken) {
  Strand& s = strand();
  if (taken == s.lanes) {
    s.pc = operation.target;
    return Step::next;
  }
  if (taken == 0) {
    ++s.pc;
    return Step::next;
  }
  if (operation.meets_at >= 0) {
    const bool known = s.join >= 0 && joins_[static_cast<std::size_t>(s.join)].pc == operation.meets_at &&
                       joins_[static_cast<std::size_t>(s.join)].frame == s.frame;
    if (!known) {
      auto free = std::ranges::find(joins_, -1, &Join::pc);
      if (free == joins_.end()) free = joins_.emplace(joins_.end());
      *free = {operation.meets_at, s.frame, s.lanes, 0, s.join, {}};
      s.join = static_cast<std::int32_t>(free - joins_.begin());
    }
  }
  Strand other = s;
  other.lanes = taken;
  other.pc = operation.target;
  s.lanes &= ~taken;
  ++s.pc;
  strands_.push_back(std::move(other));
  return Step::next;
}

WarpState::Step WarpState::branch_table(const Operation& operation, LaneMask mask) {
  const auto& table = program_.branch_tables[operation.detail];
  const std::uint32_t* const index = at<std::uint32_t>(source_slot(operation, 0));
  // One target after the other leaves the strand as if by a branch of its own.
  Operation one = operation;
  while (true) {
    const int lane = first_lane(mask);
    if (index[lane] >= table.size())
      trap(lane, std::nullopt, fmt::format("brx.idx with index {}: the list has {} targets", index[lane], table.size()));
    LaneMask taken = 0;
    for (int i = 0; i < lanes; ++i)
      if ((mask & lane_bit(i)) != 0 && index[i] == index[lane]) taken |= lane_bit(i);
    one.target = table[index[lane]];
    if (taken == strand().lanes) return branch(one, taken);
    const std::int32_t pc = strand().pc;
    branch(one, taken);
    strand().pc = pc;
    mask &= ~taken;
    if (mask == 0) {  // the lanes whose guard does not hold go on
      ++strand().pc;
      return Step::next;
    }
  }
}

bool WarpState::arrive_at_join(std::int32_t pc) {
  const Strand& s = strand();
  if (s.join < 0) return false;
  Join& join = joins_[static_cast<std::size_t>(s.join)];
  if (join.pc != pc || join.frame != s.frame) return false;
  const std::int32_t index = s.join;
  join.arrived |= s.lanes;
  join.after = s;
  waiting_since_ = operations_;
  spins_ = 0;
  remove_strand();
  complete_join(index);
  return true;
}

/// Where all lanes have come, they go on together.
void WarpState::complete_join(std::int32_t index) {
  Join& join = joins_[static_cast<std::size_t>(index)];
  if (join.pc < 0 || join.arrived != join.expected) return;
  join.pc = -1;
  if (join.arrived == 0) return;
  join.after.lanes = join.arrived;
  join.after.join = join.parent;
  strands_.push_back(std::move(join.after));
}

/// Lanes that wait at a join, some of `lanes_of_joins` among them, for others that do not come, because these wait for them in a loop or at
/// a statement that names them, go on alone.
bool WarpState::release_joined_lanes(LaneMask lanes_of_joins) {
  bool released = false;
  for (Join& join : joins_) {
    if (join.pc < 0 || (join.arrived & lanes_of_joins) == 0) continue;
    Strand go_on = join.after;
    go_on.lanes = join.arrived;
    go_on.join = join.parent;
    join.expected &= ~join.arrived;
    join.arrived = 0;
    strands_.push_back(std::move(go_on));
    released = true;
  }
  spins_ = 0;
  waiting_since_ = operations_;
  return released;
}

WarpState::Step WarpState::exit_lanes(LaneMask mask) {
  finish_stores(mask);
  live_ &= ~mask;
  std::vector<std::int32_t> chain;
  for (std::int32_t join = strand().join; join >= 0; join = joins_[static_cast<std::size_t>(join)].parent) chain.push_back(join);
  for (const std::int32_t join : chain) joins_[static_cast<std::size_t>(join)].expected &= ~mask;
  strand().lanes &= ~mask;
  const bool gone = strand().lanes == 0;
  if (gone) {
    remove_strand();
  } else {
    ++strand().pc;
  }
  for (const std::int32_t join : chain) complete_join(join);
  wake_gathering();
  arrive_without_exited();
  return gone ? Step::leave_strand : Step::next;
}

}  // namespace warpmat::machine
