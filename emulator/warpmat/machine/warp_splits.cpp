// Warp splits: lanes that execute together, how branches separate them and where they converge.
//
// A branch whose lanes disagree divides a split in two, and records their convergence point, the branch's post-dominator, in a Join. A
// split that reaches it waits until all lanes of the join have arrived or exited. Splits are scheduled alternately, so a lane that polls
// for another lane of its warp does not block it. If that other lane waits at a convergence point, it is released after a while.

#include <algorithm>

#include <fmt/core.h>

#include <warpmat/machine/block.h>
#include <warpmat/machine/operations.h>

namespace warpmat::inline v0_1::machine {

using code::Operation;

void WarpState::remove_split() {
  splits_.erase(splits_.begin() + static_cast<std::ptrdiff_t>(current_));
  if (current_ >= splits_.size()) current_ = 0;
}

WarpState::Step WarpState::branch(const Operation& operation, LaneMask taken) {
  Split& s = split();
  if (taken == s.lanes) {
    s.pc = operation.target;
    return Step::next;
  }
  if (taken == 0) {
    ++s.pc;
    return Step::next;
  }
  if (operation.converges_at >= 0) {
    const bool known = s.convergence >= 0 && convergences_[static_cast<std::size_t>(s.convergence)].pc == operation.converges_at &&
                       convergences_[static_cast<std::size_t>(s.convergence)].frame == s.frame;
    if (!known) {
      auto free = std::ranges::find(convergences_, -1, &Convergence::pc);
      if (free == convergences_.end()) free = convergences_.emplace(convergences_.end());
      *free = {operation.converges_at, s.frame, s.lanes, 0, s.convergence, {}};
      s.convergence = static_cast<std::int32_t>(free - convergences_.begin());
    }
  }
  Split other = s;
  other.lanes = taken;
  other.pc = operation.target;
  s.lanes &= ~taken;
  ++s.pc;
  splits_.push_back(std::move(other));
  return Step::next;
}

WarpState::Step WarpState::branch_table(const Operation& operation, LaneMask mask) {
  const auto& table = program_.of<code::BranchTable>(operation);
  const std::uint32_t* const index = at<std::uint32_t>(source_slot(operation, 0));
  // Handles each target as a branch of its own.
  Operation one = operation;
  while (true) {
    const int lane = first_lane(mask);
    if (index[lane] >= table.size())
      trap(lane, std::nullopt, fmt::format("brx.idx with index {}: the list has {} targets", index[lane], table.size()));
    LaneMask taken = 0;
    for (int i = 0; i < warp_size; ++i)
      if ((mask & lane_bit(i)) != 0 && index[i] == index[lane]) taken |= lane_bit(i);
    one.target = table[index[lane]];
    if (taken == split().lanes) return branch(one, taken);
    const std::int32_t pc = split().pc;
    branch(one, taken);
    split().pc = pc;
    mask &= ~taken;
    if (mask == 0) {  // lanes whose guard is false continue
      ++split().pc;
      return Step::next;
    }
  }
}

bool WarpState::arrive_at_convergence(std::int32_t pc) {
  const Split& s = split();
  if (s.convergence < 0) return false;
  Convergence& convergence = convergences_[static_cast<std::size_t>(s.convergence)];
  if (convergence.pc != pc || convergence.frame != s.frame) return false;
  const std::int32_t index = s.convergence;
  convergence.arrived |= s.lanes;
  convergence.after = s;
  waiting_since_ = operations_;
  spins_ = 0;
  remove_split();
  complete_convergence(index);
  return true;
}

/// When all lanes have arrived, they continue as one split.
void WarpState::complete_convergence(std::int32_t index) {
  Convergence& convergence = convergences_[static_cast<std::size_t>(index)];
  if (convergence.pc < 0 || convergence.arrived != convergence.expected) return;
  convergence.pc = -1;
  if (convergence.arrived == 0) return;
  convergence.after.lanes = convergence.arrived;
  convergence.after.convergence = convergence.parent;
  splits_.push_back(std::move(convergence.after));
}

/// Lanes that wait at a join, some of `lanes_of_joins` among them, for others that do not come, because these wait for them in a loop or at
/// a statement that names them, go on alone.
bool WarpState::release_waiting_lanes(LaneMask lanes_of_joins) {
  bool released = false;
  for (Convergence& convergence : convergences_) {
    if (convergence.pc < 0 || (convergence.arrived & lanes_of_joins) == 0) continue;
    Split go_on = convergence.after;
    go_on.lanes = convergence.arrived;
    go_on.convergence = convergence.parent;
    convergence.expected &= ~convergence.arrived;
    convergence.arrived = 0;
    splits_.push_back(std::move(go_on));
    released = true;
  }
  spins_ = 0;
  waiting_since_ = operations_;
  return released;
}

WarpState::Step WarpState::exit_lanes(LaneMask mask) {
  finish_bulk_stores(*this, mask);
  live_ &= ~mask;
  if (live_ == 0) block_.count_exit();
  std::vector<std::int32_t> chain;
  for (std::int32_t convergence = split().convergence; convergence >= 0;
       convergence = convergences_[static_cast<std::size_t>(convergence)].parent)
    chain.push_back(convergence);
  for (const std::int32_t convergence : chain) convergences_[static_cast<std::size_t>(convergence)].expected &= ~mask;
  split().lanes &= ~mask;
  const bool gone = split().lanes == 0;
  if (gone) {
    remove_split();
  } else {
    ++split().pc;
  }
  for (const std::int32_t convergence : chain) complete_convergence(convergence);
  wake_gathering();
  arrive_without_exited();
  return gone ? Step::leave_split : Step::next;
}

}  // namespace warpmat::inline v0_1::machine
