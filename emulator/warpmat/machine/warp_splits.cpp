// Warp splits: lanes that execute together, how branches separate them and where they converge.
//
// A branch whose lanes disagree divides a split in two, and records their convergence point, the branch's post-dominator, as a Convergence.
// A split that reaches it waits until all its lanes have arrived or exited. Splits are scheduled alternately, so a lane that polls for
// another lane of its warp does not block it. If that other lane waits at a convergence point, it is released after a while.

#include <algorithm>
#include <utility>

#include <warpmat/machine/block.h>
#include <warpmat/machine/warp_state.h>

namespace warpmat::machine {

void WarpState::remove_split() {
  splits_.erase(splits_.begin() + static_cast<std::ptrdiff_t>(current_));
  if (current_ >= splits_.size()) current_ = 0;
}

void WarpState::converge_at(std::int32_t pc) {
  Split& s = split();
  const auto is_known = [&](const Convergence& convergence) { return convergence.pc == pc && convergence.frame == s.frame; };
  if (s.convergence >= 0 && is_known(convergences_[static_cast<std::size_t>(s.convergence)])) return;
  auto free = std::ranges::find(convergences_, -1, &Convergence::pc);
  if (free == convergences_.end()) free = convergences_.emplace(convergences_.end());
  *free = {pc, s.frame, s.lanes, 0, s.convergence, {}};
  s.convergence = static_cast<std::int32_t>(free - convergences_.begin());
}

Split& WarpState::separate(LaneMask lanes) {
  Split part = split();
  part.lanes = lanes;
  split().lanes &= ~lanes;
  return splits_.emplace_back(std::move(part));
}

void WarpState::resume(const ResumedWarp& state) {
  operations_ = state.operations - state.waits;
  split_slice_ = state.of_split;
  if (state.finished || state.exited != 0) static_cast<void>(end_lanes(state.finished ? existing_ : state.exited));
  if (state.finished) return;
  split().pc = state.pc;
  if (state.waits) {
    int budget = 1;
    static_cast<void>(run(budget));
  } else if (state.apart.branch >= 0) {
    converge_at(state.apart.converges_at);
    separate(state.apart.taken).pc = program_.operations[static_cast<std::size_t>(state.apart.branch)].target;
    if (!state.apart.others_arrived) return;
    static_cast<void>(arrive_at_convergence(state.apart.converges_at));
    split().pc = state.pc;
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

/// Lanes that wait at a convergence point, some of `lanes` among them, for others that do not come, because these wait for them in a loop
/// or at a statement that names them, go on alone.
bool WarpState::release_waiting_lanes(LaneMask lanes) {
  bool released = false;
  for (Convergence& convergence : convergences_) {
    if (convergence.pc < 0 || (convergence.arrived & lanes) == 0) continue;
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

bool WarpState::end_lanes(LaneMask lanes) {
  live_ &= ~lanes;
  if (live_ == 0) block_.count_exit();
  std::vector<std::int32_t> chain;
  for (std::int32_t convergence = split().convergence; convergence >= 0;
       convergence = convergences_[static_cast<std::size_t>(convergence)].parent)
    chain.push_back(convergence);
  for (const std::int32_t convergence : chain) convergences_[static_cast<std::size_t>(convergence)].expected &= ~lanes;
  split().lanes &= ~lanes;
  const bool gone = split().lanes == 0;
  if (gone) {
    remove_split();
  } else {
    ++split().pc;
  }
  for (const std::int32_t convergence : chain) complete_convergence(convergence);
  wake_gathering();
  return gone;
}

}  // namespace warpmat::machine
