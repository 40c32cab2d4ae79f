// What lanes wait for: others that must execute a statement with them, barriers, and accesses that they repeat until they find something
// new.

#include <algorithm>
#include <cstring>

#include <fmt/core.h>

#include <warpmat/machine/block.h>
#include <warpmat/machine/warp_state.h>

namespace warpmat::machine {

using catalogue::Semantics;
using code::Operation;

namespace {

constexpr std::uint64_t most_polls = 200'000;     // accesses that find nothing new, until the warp is said to wait
constexpr std::uint64_t polls_of_a_strand = 256;  // at least as many as a strand makes in its slice

std::uint64_t add_to_hash(std::uint64_t hash, std::uint64_t value) {
  constexpr std::uint64_t fnv_prime = 0x100000001b3;
  return (hash ^ value) * fnv_prime;
}

constexpr std::uint64_t empty_hash = 0xcbf29ce484222325;

}  // namespace

/// Whether all lanes of `needed` are here, now or because they wait here; then `mask` is all of them. Else the strand waits. `any_place`:
/// other bar.warp.sync count too.
bool WarpState::gather(const Operation& operation, LaneMask needed, LaneMask& mask, bool any_place) {
  LaneMask here = mask;
  if ((needed & ~here) != 0)
    for (const Strand& other : strands_) {
      if (other.state != Strand::State::gathering) continue;
      if ((other.executing & ~needed) != 0) continue;  // it waits for lanes of its own
      const bool same = other.pc == strand().pc && other.frame == strand().frame;
      if (same || (any_place && program_.operations[static_cast<std::size_t>(other.pc)].semantics == operation.semantics))
        here |= other.executing;
    }
  if ((needed & ~here) == 0) {
    mask = here;
    return true;
  }
  strand().state = Strand::State::gathering;
  strand().executing = mask;
  strand().needed = needed;
  return false;
}

/// Those lanes of `mask` who waited for this operation, and this strand, are behind it.
void WarpState::advance_gathered(const Operation& operation, LaneMask mask, bool any_place) {
  const std::int32_t pc = strand().pc;
  const std::uint32_t frame = strand().frame;
  for (Strand& other : strands_) {
    if (other.state != Strand::State::gathering || (other.executing & ~mask) != 0) continue;
    const bool same = other.pc == pc && other.frame == frame;
    if (!same && !(any_place && program_.operations[static_cast<std::size_t>(other.pc)].semantics == operation.semantics)) continue;
    other.state = Strand::State::ready;
    ++other.pc;
  }
  ++strand().pc;
}

/// Lanes that strands wait for because they name them. Of .aligned statements all lanes must come without that.
LaneMask WarpState::missed_lanes() const {
  const auto names_lanes = [&](const Strand& s) {
    const Semantics semantics = program_.operations[static_cast<std::size_t>(s.pc)].semantics;
    return semantics == Semantics::exchange || semantics == Semantics::elect || semantics == Semantics::warp_barrier;
  };
  LaneMask missed = 0;
  for (const Strand& s : strands_)
    if (s.state == Strand::State::gathering && names_lanes(s)) missed |= s.needed & ~s.executing;
  return missed & live_;
}

void WarpState::wake_gathering() {
  for (Strand& s : strands_)
    if (s.state == Strand::State::gathering) s.state = Strand::State::ready;
}

void WarpState::check_gathering() const {
  for (const Strand& s : strands_) {
    if (s.state != Strand::State::gathering) continue;
    const Operation& operation = program_.operations[static_cast<std::size_t>(s.pc)];
    LaneMask here = 0;
    for (const Strand& other : strands_)
      if (other.state == Strand::State::gathering && other.pc == s.pc) here |= other.executing & s.needed;
    const LaneMask absent = s.needed & live_ & ~here;
    const_cast<WarpState*>(this)->current_ = static_cast<std::size_t>(&s - strands_.data());
    trap(first_lane(s.executing), std::nullopt,
         fmt::format("{} is executed by lanes {:#010x} only; lanes {:#010x}, which must take part, are elsewhere and do not come",
                     program_.statements[operation.statement]->opcode, here, absent));
  }
}

/// An access that lanes repeat while they wait for others: one in a defined order, an atomic one. Where it finds the same as the last time,
/// that is no progress. What needs the turn waits for other blocks too: the grid sees to that.
void WarpState::poll(const Operation& operation, const Addresses& addresses, std::uint32_t bytes, LaneMask mask) {
  ++spins_;
  strand().polls_at = strand().pc;
  std::uint64_t hash = empty_hash;
  for (LaneMask rest = mask; rest != 0; rest &= rest - 1)
    for (std::uint32_t i = 0; i < bytes; ++i) hash = add_to_hash(hash, addresses.host[static_cast<std::size_t>(first_lane(rest))][i]);
  note_poll(mask, hash, is_ordered(operation));
}

/// The access of these lanes at this place found `found`; `ordered`: it needed the turn.
void WarpState::note_poll(LaneMask mask, std::uint64_t found, bool ordered) {
  const auto [last, is_new] = found_.try_emplace({strand().pc, mask}, found);
  if (!is_new && last->second != found) block_.make_progress();
  last->second = found;
  if (seen_progress_ != block_.progress() || ordered) forget_polls();
  if (!ordered && ++polls_ % (polls_of_a_strand * strands_.size()) == 0 && !lanes_wait_at_joins())
    repeats_ |= !states_.insert(hash_of_state()).second;
  seen_progress_ = block_.progress();
}

void WarpState::forget_polls() {
  polls_ = 0;
  repeats_ = false;
  states_.clear();
}

/// They may be released from there.
bool WarpState::lanes_wait_at_joins() const {
  return std::ranges::any_of(joins_, [](const Join& join) { return join.pc >= 0 && join.arrived != 0; });
}

/// Of everything that decides what the warp does next while shared and global memory stay as they are: registers, local memory, and where
/// its strands are.
std::uint64_t WarpState::hash_of_state() const {
  std::uint64_t hash = empty_hash;
  const auto add = [&](const std::uint8_t* bytes, std::size_t count) {
    for (std::size_t at = 0; at + sizeof(std::uint64_t) <= count; at += sizeof(std::uint64_t)) {
      std::uint64_t word;
      std::memcpy(&word, bytes + at, sizeof word);
      hash = add_to_hash(hash, word);
    }
  };
  add(registers_, launch_.frame_bytes);
  add(local_.data(), local_.size());
  for (const Strand& s : strands_) {
    hash = add_to_hash(hash, static_cast<std::uint64_t>(s.state));
    hash = add_to_hash(hash, static_cast<std::uint64_t>(s.pc));
    hash = add_to_hash(hash, std::uint64_t{s.frame} << 32 | s.lanes);
  }
  return hash;
}

/// A test of an mbarrier, which lanes repeat until it succeeds.
void WarpState::note_wait(const Operation&, LaneMask mask, bool failed) {
  ++spins_;
  strand().polls_at = strand().pc;
  if (failed) return note_poll(mask, 0, false);
  forget_polls();
  waits_for_.reset();
}

/// Its state has come back while memory has not changed: it goes round for ever. Where the state does not come back, as in a loop that
/// counts, many polls say so.
bool WarpState::polls() const {
  return (repeats_ || polls_ > most_polls) && seen_progress_ == block_.progress();
}

bool WarpState::waits() const {
  return polls() || std::ranges::none_of(strands_, [](const Strand& s) { return s.state == Strand::State::ready; });
}

void WarpState::go_back_to_polls() {
  for (Strand& s : strands_)
    if (s.state == Strand::State::ready && s.polls_at >= 0) s.pc = s.polls_at;
}

std::string WarpState::describe_waiting() const {
  std::string text;
  for (const Strand& s : strands_) {
    const Operation& operation = program_.operations[static_cast<std::size_t>(s.pc)];
    text += fmt::format("{}lanes {:#010x} at line {} ({})", text.empty() ? "" : ", ", s.lanes, program_.line(operation),
                        program_.statements[operation.statement]->opcode);
    if (operation.semantics == Semantics::mbarrier && waits_for_) text += ", " + describe_mbarrier();
  }
  return text;
}

void WarpState::release(int barrier, std::uint32_t count, std::uint32_t contributed) {
  for (std::size_t i = 0; i < strands_.size(); ++i) {
    if (strands_[i].state != Strand::State::at_barrier || strands_[i].barrier != barrier) continue;
    const std::size_t kept = current_;
    current_ = i;
    const Operation& operation = program_.operations[static_cast<std::size_t>(strands_[i].pc)];
    if (operation.results > 0) {
      using Action = code::Barrier::Action;
      const Action action = program_.barriers[operation.detail].action;
      const std::uint32_t value = action == Action::reduce_popc ? count : action == Action::reduce_and ? count == contributed : count != 0;
      for (int lane = 0; lane < lanes; ++lane)
        if ((strands_[i].executing & lane_bit(lane)) != 0) write_word(operation, 0, lane, value);
    }
    strands_[i].state = Strand::State::ready;
    ++strands_[i].pc;
    current_ = kept;
  }
}

LaneMask WarpState::waiting_at(int barrier) const {
  LaneMask mask = 0;
  for (const Strand& s : strands_)
    if (s.state == Strand::State::at_barrier && s.barrier == barrier) mask |= s.executing;
  return mask;
}

}  // namespace warpmat::machine
