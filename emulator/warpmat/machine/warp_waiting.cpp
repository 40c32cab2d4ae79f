// The reasons for which lanes wait: other lanes that must execute a statement with them, barriers, and accesses that they poll.

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/core.h>

#include <warpmat/machine/block.h>
#include <warpmat/machine/warp_state.h>
#include <warpmat/machine/without_lanes.h>

namespace warpmat::machine {

using catalogue::Semantics;
using code::Operation;

namespace {

constexpr std::uint64_t max_polls = 200'000;     // accesses without a new value, until the warp counts as waiting
constexpr std::uint64_t polls_of_a_split = 256;  // at least the polls of a split in its slice

std::uint64_t add_to_hash(std::uint64_t hash, std::uint64_t value) {
  constexpr std::uint64_t fnv_prime = 0x100000001b3;
  return (hash ^ value) * fnv_prime;
}

/// Of `count` bytes at a place, by words as far as they go.
std::uint64_t add_to_hash(std::uint64_t hash, const std::uint8_t* place, std::uint32_t count) {
  std::uint32_t word;
  for (; count >= sizeof word; count -= static_cast<std::uint32_t>(sizeof word), place += sizeof word) {
    std::memcpy(&word, place, sizeof word);
    hash = add_to_hash(hash, word);
  }
  for (; count != 0; --count) hash = add_to_hash(hash, *place++);
  return hash;
}

std::uint64_t hash_words(std::uint64_t hash, const std::uint8_t* bytes, std::size_t count) {
  for (std::size_t at = 0; at + sizeof(std::uint64_t) <= count; at += sizeof(std::uint64_t)) {
    std::uint64_t word;
    std::memcpy(&word, bytes + at, sizeof word);
    hash = add_to_hash(hash, word);
  }
  return hash;
}

constexpr std::uint64_t empty_hash = 0xcbf29ce484222325;

}  // namespace

/// Whether lanes at two statements meet, as on an H100: at two bar.warp.sync, or at two exchanges of one kind with one mask.
bool WarpState::meet_at(const Split& a, const Split& b) const {
  const Operation &one = program_.operations[static_cast<std::size_t>(a.pc)], &other = program_.operations[static_cast<std::size_t>(b.pc)];
  if (one.semantics != other.semantics) return false;
  if (one.semantics == Semantics::warp_barrier) return true;
  if (one.semantics != Semantics::exchange) return false;
  const auto mask = [&](const Split& s, const Operation& operation) {
    const code::Slot slot = source_slot(operation, operation.sources - 1);
    return reinterpret_cast<const LaneMask*>(slot >= 0 ? registers_ + s.frame + slot : constants_ + ~slot)[first_lane(s.executing)];
  };
  return program_.of<code::WarpExchange>(one).is_like(program_.of<code::WarpExchange>(other)) && mask(a, one) == mask(b, other);
}

/// Returns true if every lane of `needed` has reached this operation, and sets `mask` to all of them. Otherwise the split waits. With
/// `any_place`, lanes at other statements count too, if they meet there.
bool WarpState::gather(LaneMask needed, LaneMask& mask, bool any_place) {
  LaneMask here = mask;
  if ((needed & ~here) != 0)
    for (const Split& other : splits_) {
      if (other.state != Split::State::gathering) continue;
      if ((other.executing & ~needed) != 0) continue;  // it waits for its own set of lanes
      const bool same = other.pc == split().pc && other.frame == split().frame;
      if (same || (any_place && meet_at(other, split()))) here |= other.executing;
    }
  if ((needed & ~here) == 0) {
    mask = here;
    tell_meeting(mask);
    return true;
  }
  split().state = Split::State::gathering;
  split().executing = mask;
  split().needed = needed;
  return false;
}

void WarpState::tell_meeting(LaneMask lanes) const {
  if (observers_.want(EventKinds::synchronisation))
    observers_.tell(EventKinds::synchronisation, &Observer::lanes_meet, Event(*this, operation(), lanes));
}

/// Moves this split, and the splits of `mask` that waited for it, past this operation.
WarpState::Step WarpState::advance_gathered(LaneMask mask, bool any_place) {
  const std::int32_t pc = split().pc;
  const std::uint32_t frame = split().frame;
  for (Split& other : splits_) {
    if (other.state != Split::State::gathering || (other.executing & ~mask) != 0) continue;
    const bool same = other.pc == pc && other.frame == frame;
    if (!same && !(any_place && meet_at(other, split()))) continue;
    other.state = Split::State::ready;
    ++other.pc;
  }
  return advance();
}

void WarpState::wait_at(std::int32_t barrier, LaneMask mask, bool with_gathered) {
  const std::int32_t pc = split().pc;
  const std::uint32_t frame = split().frame;
  split().executing = mask;
  for (Split& s : splits_) {
    const bool gathered = s.state == Split::State::gathering && s.pc == pc && s.frame == frame;
    if (&s != &split() && !(with_gathered && gathered)) continue;
    s.state = Split::State::at_barrier;
    s.barrier = barrier;
  }
}

/// Lanes for which splits wait because they name them. For .aligned statements all lanes must arrive.
LaneMask WarpState::missed_lanes() const {
  const auto names_lanes = [&](const Split& s) {
    return catalogue::has(program_.operations[static_cast<std::size_t>(s.pc)].semantics, catalogue::fact::between_lanes);
  };
  LaneMask missed = 0;
  for (const Split& s : splits_)
    if (s.state == Split::State::gathering && names_lanes(s)) missed |= s.needed & ~s.executing;
  return missed & live_;
}

void WarpState::wake_gathering() {
  for (Split& s : splits_)
    if (s.state == Split::State::gathering) s.state = Split::State::ready;
}

void WarpState::check_gathering() {
  for (const Split& s : splits_) {
    if (s.state != Split::State::gathering) continue;
    const Operation& operation = program_.operations[static_cast<std::size_t>(s.pc)];
    LaneMask here = 0;
    for (const Split& other : splits_)
      if (other.state == Split::State::gathering && other.pc == s.pc) here |= other.executing & s.needed;
    const LaneMask absent = s.needed & live_ & ~here;
    current_ = static_cast<std::size_t>(&s - splits_.data());
    trap(first_lane(s.executing), std::nullopt, without_lanes(program_, operation, here, absent));
  }
}

/// Handles an access that lanes may poll: one in a defined order, or an atomic. Reading the same value as last time is no progress. An
/// access to global memory may also wait for other blocks; the grid detects that of those that need the reservation.
void WarpState::poll(const Operation& operation, const Addresses& addresses, std::uint32_t bytes, LaneMask mask) {
  note_spin();
  split().polls_at = split().pc;
  std::uint64_t hash = empty_hash;
  for (LaneMask rest = mask; rest != 0; rest &= rest - 1)
    hash = add_to_hash(hash, addresses.host[static_cast<std::size_t>(first_lane(rest))], bytes);
  note_poll(mask, hash, is_global(operation));
}

/// Records that these lanes' access at this place read `found`. `global`: other blocks may write there, too.
void WarpState::note_poll(LaneMask mask, std::uint64_t found, bool global) {
  if (polling_ == nullptr) polling_ = std::make_unique<Polls>();
  block_.note_read(found);
  const auto [last, is_new] = polling_->found.try_emplace({split().pc, mask}, found);
  if (!is_new && last->second != found) block_.make_progress();
  if (!is_new && last->second == found) split().polled_in_vain = block_.progress() + 1;
  last->second = found;
  if (seen_progress_ != block_.progress() || global) forget_polls();
  if (!global && ++polls_ % (polls_of_a_split * splits_.size()) == 0 && !lanes_wait_to_converge())
    repeats_ |= !polling_->states.insert(hash_of_state()).second;
  seen_progress_ = block_.progress();
}

void WarpState::forget_polls() {
  polls_ = 0;
  repeats_ = false;
  if (polling_ != nullptr) polling_->states.clear();
}

void WarpState::poll_on() {
  constexpr std::uint64_t fewest_polls = max_polls / 16;
  const std::uint64_t before = polls_;
  forget_polls();
  polls_ = std::min(before, max_polls - fewest_polls);
}

/// They may be released from there.
bool WarpState::lanes_wait_to_converge() const {
  return std::ranges::any_of(convergences_, [](const Convergence& convergence) { return convergence.pc >= 0 && convergence.arrived != 0; });
}

/// Statements compute in lanes that do not exist, too, and what they leave there may count up for ever.
std::uint64_t WarpState::hash_of_live_registers(std::uint64_t hash) const {
  for (const Operation& operation : program_.operations)
    for (int i = 0; i < operation.results; ++i) {
      const code::Slot slot = result_slot(operation, i);
      if (slot < 0) continue;
      const std::uint8_t* const row = registers_ + split().frame + slot;
      const code::RegisterClass kind = operation.result_class(i);
      if (kind == code::RegisterClass::predicate) {
        hash = add_to_hash(hash, *reinterpret_cast<const LaneMask*>(row) & live_);
        continue;
      }
      const auto bytes = static_cast<std::uint32_t>(code::bytes(kind) / warp_size);
      for (LaneMask rest = live_; rest != 0; rest &= rest - 1)
        hash = add_to_hash(hash, row + bytes * static_cast<std::uint32_t>(first_lane(rest)), bytes);
    }
  return hash;
}

/// Registers, local memory, and where its splits are.
std::uint64_t WarpState::hash_of_state() const {
  std::uint64_t hash = empty_hash;
  const bool lives_as_a_whole = live_ == all_lanes || !splits_.front().calls.empty();
  hash = lives_as_a_whole ? hash_words(hash, registers_, launch_.frame_bytes) : hash_of_live_registers(hash);
  hash = hash_words(hash, local_.data(), local_.size());
  for (const Split& s : splits_) {
    hash = add_to_hash(hash, static_cast<std::uint64_t>(s.state));
    hash = add_to_hash(hash, static_cast<std::uint64_t>(s.pc));
    hash = add_to_hash(hash, std::uint64_t{s.frame} << 32 | s.lanes);
  }
  return hash;
}

/// What the reservation has read is a part of the state: where that comes back, too, the block has seen no other memory.
std::uint64_t Block::hash_of_state() const {
  std::uint64_t hash = add_to_hash(reads_, shared_.data(), static_cast<std::uint32_t>(shared_.size()));
  for (const WarpState* const warp : warps_)
    if (!warp->finished()) hash = add_to_hash(hash, warp->hash_of_state());
  return hash;
}

std::uint64_t Cluster::hash_of_state() const {
  std::uint64_t hash = empty_hash;
  for (const auto& block : blocks_) hash = add_to_hash(hash, block->hash_of_state());
  return hash;
}

/// A test of an mbarrier, which lanes repeat until it succeeds.
void WarpState::note_wait(LaneMask mask, bool failed) {
  note_spin();
  split().polls_at = split().pc;
  if (failed) return note_poll(mask, 0, false);
  forget_polls();
  waits_for_.reset();
}

/// Its state has come back while memory has not changed: it goes round for ever. Where the state does not come back, as in a loop that
/// counts, many polls say so.
bool WarpState::polls() const {
  return (repeats_ || (polls_ > max_polls && only_polls())) && seen_progress_ == block_.progress();
}

bool WarpState::only_polls() const {
  return std::ranges::all_of(splits_,
                             [&](const Split& s) { return s.state != Split::State::ready || s.polled_in_vain == block_.progress() + 1; });
}

bool WarpState::only_waits() const {
  constexpr std::uint32_t most_clock_reads = 64;  // of lanes that measure and go on
  const std::uint64_t now = block_.progress() + 1;
  return std::ranges::all_of(splits_, [&](const Split& s) {
    return s.state != Split::State::ready || s.polled_in_vain == now || (s.clock_read == now && s.clock_reads > most_clock_reads);
  });
}

void WarpState::note_clock_read() {
  if (polls_ != 0) ++polls_;
  Split& s = split();
  const std::uint64_t now = block_.progress() + 1;
  s.clock_reads = s.clock_read == now ? s.clock_reads + 1 : 1;
  s.clock_read = now;
}

bool WarpState::waits() const {
  return polls() || std::ranges::none_of(splits_, [](const Split& s) { return s.state == Split::State::ready; });
}

void WarpState::go_back_to_polls() {
  for (Split& s : splits_)
    if (s.state == Split::State::ready && s.polls_at >= 0) s.pc = s.polls_at;
}

std::vector<WarpState::Waiting> WarpState::describe_waiting() const {
  std::vector<Waiting> all;
  for (const Split& s : splits_) {
    const Operation& operation = program_.operations[static_cast<std::size_t>(s.pc)];
    std::string text, help;
    std::vector<Trap::Note> changes;
    if (operation.semantics == Semantics::mbarrier && waits_for_) {
      Block& owner = block_.cluster().block(waits_for_->rank);
      text += fmt::format(": {}{}", owner.describe_mbarrier(waits_for_->offset),
                          waits_for_->rank == block_.rank() ? "" : fmt::format(", of block {} of the cluster", waits_for_->rank));
      changes = owner.mbarrier_changes(waits_for_->offset);
      help = owner.mbarrier_help(waits_for_->offset);
    }
    if (operation.semantics == Semantics::tensor_memory && block_.has_tensor_core())
      text += fmt::format(": tensor memory has {} free columns; {}", block_.tensor_core().free_columns(),
                          block_.tensor_core().describe_allocations());
    if (s.state == Split::State::at_barrier && s.barrier >= 0 && s.barrier < static_cast<int>(block_barriers)) {
      const BarrierState& state = block_.barrier(s.barrier);
      const std::uint32_t expected = state.expected;
      text += expected != 0 ? fmt::format(": barrier {} has {} of {} threads", s.barrier, state.arrived, expected)
                            : fmt::format(": barrier {} has {} threads, and needs all that have not exited", s.barrier, state.arrived);
    }
    all.push_back({s.lanes, operation.statement, std::move(text), std::move(changes), std::move(help)});
  }
  return all;
}

LaneMask WarpState::waiting_at(std::int32_t barrier) const {
  LaneMask mask = 0;
  for (const Split& s : splits_)
    if (s.state == Split::State::at_barrier && s.barrier == barrier) mask |= s.executing;
  return mask;
}

}  // namespace warpmat::machine
