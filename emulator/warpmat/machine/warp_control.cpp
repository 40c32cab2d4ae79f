// The lanes of a warp in the program: strands of lanes that execute together, how branches separate them and where they meet again.
//
// A branch whose lanes disagree makes two strands of one, and notes in a Join where they meet: at the branch's post-dominator. A strand
// that comes there waits until all lanes of the join have come or exited. Strands take turns, so a lane that waits in a loop for another
// lane of its warp does not keep that one from running; if that other lane waits at a join, it is released from there after a while.

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include <warpmat/machine/block.h>
#include <warpmat/machine/warp_state.h>
#include <warpmat/machine/warpgroup.h>

namespace warpmat::machine {

using catalogue::Semantics;
using code::Operation;

namespace {

constexpr int strand_slice = 512;                   // operations until another strand of the warp has its turn
constexpr std::uint64_t most_spins = 2000;          // accesses that may wait for other lanes, until lanes at joins are released
constexpr std::uint64_t most_polls = 200'000;       // accesses that find nothing new, until the warp is said to wait
constexpr std::uint64_t longest_wait = 20'000'000;  // operations until the same

}  // namespace

WarpState::WarpState(Block& block, int index, LaneMask existing)
    : block_(block), launch_(block.launch()), program_(launch_.program), index_(index), existing_(existing), live_(existing) {
  register_storage_.resize(launch_.frame_bytes + code::register_alignment);
  registers_ = register_storage_.data();
  const auto misalignment = reinterpret_cast<std::uintptr_t>(registers_) % code::register_alignment;
  if (misalignment != 0) registers_ += code::register_alignment - misalignment;
  local_.resize(std::size_t{launch_.local_bytes} * lanes);
  strands_.push_back({.pc = program_.functions.front().first, .lanes = existing, .calls = {}});
  if (!program_.products.empty()) wgmma_ = std::make_unique<WarpgroupState>(launch_.frame_bytes);
}

WarpState::~WarpState() = default;

bool WarpState::choose_strand() {
  for (std::size_t i = 0; i < strands_.size(); ++i) {
    const std::size_t candidate = (current_ + i) % strands_.size();
    if (strands_[candidate].state != Strand::State::ready) continue;
    current_ = candidate;
    return true;
  }
  return false;
}

WarpState::Status WarpState::run(int& budget) {
  if (!choose_strand()) return finished() ? Status::finished : Status::blocked;
  for (; budget > 0; --budget) {
    compute_in_a_row(budget);
    switch (step()) {
      case Step::next: break;
      case Step::leave_strand:
        if (!choose_strand()) return finished() ? Status::finished : Status::blocked;
        strand_slice_ = 0;
        break;
      case Step::yield:
        if (strands_.size() > 1) ++current_;
        return Status::yielded;
      // The operation is executed later, as if nobody had come to it yet.
      case Step::needs_turn: --operations_; return Status::needs_turn;
      case Step::turn_is_over: --operations_; return Status::turn_is_over;
    }
    if (++strand_slice_ < strand_slice) continue;
    strand_slice_ = 0;
    if (spins_ > most_spins || operations_ - waiting_since_ > longest_wait) release_joined_lanes();
    ++current_;
    choose_strand();
  }
  return Status::yielded;
}

/// Executes operations that step() would only compute, up to another one; the last of the budget and of the strand's slice is left to
/// step().
void WarpState::compute_in_a_row(int& budget) {
  if (taint_.any() || wgmma_ != nullptr || launch_.options.observer != nullptr) return;
  Strand& s = strand();
  const Operation* const first = &program_.operations[static_cast<std::size_t>(s.pc)];
  const Operation* const end = first + std::min(budget, strand_slice - strand_slice_) - 1;
  const Operation* operation = first;
  while (operation < end && catalogue::computes(operation->semantics) && !operation->guarded && !operation->joins)
    compute(*operation++, s.lanes);
  const auto done = static_cast<int>(operation - first);
  s.pc += done;
  operations_ += static_cast<std::uint64_t>(done);
  budget -= done;
  strand_slice_ += done;
}

WarpState::Step WarpState::step() {
  Strand& s = strand();
  const Operation& operation = program_.operations[static_cast<std::size_t>(s.pc)];
  if (operation.joins && arrive_at_join(s.pc)) return Step::leave_strand;
  LaneMask mask = s.lanes;
  if (operation.guarded) {
    const LaneMask guard = *at<LaneMask>(operation.guard);
    mask &= operation.guard_inverted ? ~guard : guard;
  }
  ++operations_;
  if (taint_.any()) follow_taint(operation, mask);
  if (wgmma_ != nullptr && mask != 0) follow_wgmma(operation);
  if (launch_.options.observer != nullptr) observe(operation, mask);
  if (operation.semantics == Semantics::branch) return branch(operation, mask);
  if (mask == 0) {
    ++s.pc;
    return Step::next;
  }
  if (catalogue::computes(operation.semantics)) {
    compute(operation, mask);
    ++s.pc;
    return Step::next;
  }
  return execute(operation, mask);
}

WarpState::Step WarpState::execute(const Operation& operation, LaneMask mask) {
  switch (operation.semantics) {
    case Semantics::load:
    case Semantics::store:
    case Semantics::atomic:
    case Semantics::fence:
      if (is_ordered(operation)) {
        if (!block_.has_turn()) return Step::needs_turn;
        if (!block_.use_turn()) return Step::turn_is_over;
      }
      if (operation.semantics == Semantics::load) load(operation, mask);
      if (operation.semantics == Semantics::store) store(operation, mask);
      if (operation.semantics == Semantics::atomic) atomic(operation, mask);
      if (operation.semantics == Semantics::fence) publish_copies();
      break;
    case Semantics::special: special(operation, mask); break;
    case Semantics::cp_async: cp_async(operation, mask); break;
    case Semantics::cp_async_commit: commit_group(mask); break;
    case Semantics::cp_async_wait: wait_group(operation, mask); break;
    case Semantics::branch_table: return branch_table(operation, mask);
    case Semantics::call: return call(operation);
    case Semantics::return_: return return_from_call();
    case Semantics::exit:
      if (waits_for_sums(operation, mask) && !block_.has_turn()) return Step::needs_turn;
      return exit_lanes(mask);
    case Semantics::trap:
      trap(first_lane(mask), std::nullopt,
           operation.detail == code::trap_of_call ? "the register holds the address of no function that this call may mean"
                                                  : "the kernel executes a trap",
           operation.detail == code::trap_of_call ? KernelTrap::Kind::misuse : KernelTrap::Kind::stopped);
    case Semantics::barrier: return barrier(operation, mask);
    case Semantics::warp_barrier: return warp_barrier(operation, mask);
    case Semantics::exchange: return exchange(operation, mask);
    case Semantics::elect: return elect(operation, mask);
    case Semantics::active_mask:
      for (int lane = 0; lane < lanes; ++lane)
        if ((mask & lane_bit(lane)) != 0) write_word(operation, 0, lane, mask);
      break;
    case Semantics::sleep:
      ++strand().pc;
      ++spins_;
      return Step::yield;
    case Semantics::matrix: return matrix(operation, mask);
    case Semantics::wgmma: return wgmma(operation, mask);
    case Semantics::wgmma_fence:
    case Semantics::wgmma_wait:
      if (wgmma_ != nullptr) return meet_warpgroup(operation, mask);
      break;  // nothing to order
    case Semantics::wgmma_commit:
      if (wgmma_ != nullptr) return wgmma_commit(operation, mask);
      break;
    case Semantics::mbarrier: return mbarrier(operation, mask);
    case Semantics::bulk_copy: bulk_copy(operation, mask); break;
    case Semantics::bulk_commit: bulk_commit(mask); break;
    case Semantics::bulk_wait:
      if (waits_for_sums(operation, mask)) {
        if (!block_.has_turn()) return Step::needs_turn;
        if (!block_.use_turn()) return Step::turn_is_over;
      }
      bulk_wait(operation, mask);
      break;
    case Semantics::cluster_barrier: return cluster_barrier(operation, mask);
    case Semantics::cluster_rank: cluster_rank(operation, mask); break;
    case Semantics::tensor_map: return tensor_map(operation, mask);
    case Semantics::proxy_fence:
      if (block_.proxies() != nullptr) block_.proxies()->fence(index_);
      break;
    case Semantics::nothing:
    case Semantics::compute:
    case Semantics::select:
    case Semantics::branch:
    case Semantics::address_space: break;
  }
  ++strand().pc;
  return Step::next;
}

/// An access that lanes repeat while they wait for others: one in a defined order, an atomic one. Where it finds the same as the last time,
/// that is no progress. What needs the turn waits for other blocks too: the grid sees to that.
void WarpState::poll(const Operation& operation, const Addresses& addresses, std::uint32_t bytes, LaneMask mask) {
  ++spins_;
  strand().polls_at = strand().pc;
  constexpr std::uint64_t fnv_prime = 0x100000001b3;
  std::uint64_t hash = 0xcbf29ce484222325;
  for (LaneMask rest = mask; rest != 0; rest &= rest - 1)
    for (std::uint32_t i = 0; i < bytes; ++i) hash = (hash ^ addresses.host[static_cast<std::size_t>(first_lane(rest))][i]) * fnv_prime;
  note_poll(mask, hash, is_ordered(operation));
}

/// The access of these lanes at this place found `found`; `ordered`: it needed the turn.
void WarpState::note_poll(LaneMask mask, std::uint64_t found, bool ordered) {
  const auto [last, is_new] = found_.try_emplace({strand().pc, mask}, found);
  if (!is_new && last->second != found) block_.make_progress();
  last->second = found;
  polls_ = seen_progress_ == block_.progress() && !ordered ? polls_ + 1 : 0;
  seen_progress_ = block_.progress();
}

/// A test of an mbarrier, which lanes repeat until it succeeds.
void WarpState::note_wait(const Operation&, LaneMask mask, bool failed) {
  ++spins_;
  strand().polls_at = strand().pc;
  if (failed) return note_poll(mask, 0, false);
  polls_ = 0;
  waits_for_.reset();
}

bool WarpState::polls() const {
  return polls_ > most_polls && seen_progress_ == block_.progress();
}

bool WarpState::waits() const {
  return polls() || std::ranges::none_of(strands_, [](const Strand& s) { return s.state == Strand::State::ready; });
}

void WarpState::go_back_to_polls() {
  for (Strand& s : strands_)
    if (s.state == Strand::State::ready && s.polls_at >= 0) s.pc = s.polls_at;
}

void WarpState::observe(const Operation& operation, LaneMask mask) {
  launch_.options.observer->operation({program_, operation, block_.index(), index_, mask});
}

// ---- Branches and joins
// -------------------------------------------------------------------------------------------------------------------

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

/// Lanes that wait at a join for others that do not come, because these wait for them in a loop, go on alone.
bool WarpState::release_joined_lanes() {
  bool released = false;
  for (Join& join : joins_) {
    if (join.pc < 0 || join.arrived == 0) continue;
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
  for (AsyncCopy& copy : copies_) copy.mask &= ~mask;
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
  return gone ? Step::leave_strand : Step::next;
}

// ---- Calls
// --------------------------------------------------------------------------------------------------------------------------------

WarpState::Step WarpState::call(const Operation& operation) {
  Strand& s = strand();
  const code::Call& call = program_.calls[operation.detail];
  if (call.target == code::Call::Target::print) {
    print(call, s.lanes);
    ++s.pc;
    return Step::next;
  }
  if (call.target == code::Call::Target::assert_fail) assert_fail(call, s.lanes);
  const code::Function& caller = program_.functions[static_cast<std::size_t>(s.function)];
  const code::Function& callee = program_.functions[static_cast<std::size_t>(call.function)];
  const std::uint32_t frame = s.frame + caller.frame_bytes, local = s.local + caller.local_bytes;
  if (frame + callee.frame_bytes > launch_.frame_bytes || local + callee.local_bytes > launch_.local_bytes)
    trap(first_lane(s.lanes), std::nullopt, fmt::format("'{}' calls itself too deeply", callee.name));
  for (int lane = 0; lane < lanes; ++lane) {
    if ((s.lanes & lane_bit(lane)) == 0) continue;
    std::uint8_t* const memory = local_.data() + std::size_t{launch_.local_bytes} * static_cast<std::size_t>(lane);
    for (const code::ArgumentCopy& copy : call.arguments)
      std::copy_n(memory + s.local + copy.caller, copy.bytes, memory + local + copy.callee);
  }
  for (const code::RegisterCopy& copy : call.register_arguments) {
    if (taint_.any()) taint_.set(frame + static_cast<std::size_t>(copy.callee), s.lanes, taint_of(copy.caller), {});
    std::copy_n(at<std::uint8_t>(copy.caller), code::bytes(copy.register_class), registers_ + frame + copy.callee);
  }
  s.calls.push_back({s.pc, s.frame, s.local, s.function});
  s.frame = frame;
  s.local = local;
  s.function = call.function;
  s.pc = callee.first;
  return Step::next;
}

WarpState::Step WarpState::return_from_call() {
  Strand& s = strand();
  const Return back = s.calls.back();
  s.calls.pop_back();
  const code::Call& call = program_.calls[program_.operations[static_cast<std::size_t>(back.pc)].detail];
  for (int lane = 0; lane < lanes; ++lane) {
    if ((s.lanes & lane_bit(lane)) == 0) continue;
    std::uint8_t* const memory = local_.data() + std::size_t{launch_.local_bytes} * static_cast<std::size_t>(lane);
    for (const code::ArgumentCopy& copy : call.returns)
      std::copy_n(memory + s.local + copy.callee, copy.bytes, memory + back.local + copy.caller);
    for (const code::RegisterCopy& copy : call.register_returns) {
      if (taint_.any()) taint_.set(back.frame + static_cast<std::size_t>(copy.caller), lane_bit(lane), taint_of(copy.callee), {});
      const std::uint8_t* const from = registers_ + s.frame + copy.callee;
      std::uint8_t* const to = registers_ + back.frame + copy.caller;
      const auto l = static_cast<std::size_t>(lane);
      switch (copy.register_class) {
        case code::RegisterClass::word: std::copy_n(from + 4 * l, 4, to + 4 * l); break;
        case code::RegisterClass::wide: std::copy_n(from + 8 * l, 8, to + 8 * l); break;
        case code::RegisterClass::quad:
          std::copy_n(from + 8 * l, 8, to + 8 * l);
          std::copy_n(from + 8 * (l + lanes), 8, to + 8 * (l + lanes));
          break;
        case code::RegisterClass::predicate: {
          LaneMask& mask = *reinterpret_cast<LaneMask*>(to);
          mask = (mask & ~lane_bit(lane)) | (*reinterpret_cast<const LaneMask*>(from) & lane_bit(lane));
          break;
        }
      }
    }
  }
  s.frame = back.frame;
  s.local = back.local;
  s.function = back.function;
  s.pc = back.pc + 1;
  return Step::next;
}

// ---- Operations that lanes execute together
// -----------------------------------------------------------------------------------------------

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

void WarpState::trap(int lane, std::optional<std::uint64_t> address, const std::string& reason, KernelTrap::Kind kind) const {
  KernelTrap::Site site{.kernel = std::string(program_.entry),
                        .block = block_.index(),
                        .warp = index_,
                        .lane = lane,
                        .line = 0,
                        .statement = {},
                        .source = {}};
  if (!strands_.empty()) {
    const Operation& operation = program_.operations[static_cast<std::size_t>(strand().pc)];
    const syntax::Statement& statement = *program_.statements[operation.statement];
    site.line = statement.location.line;
    site.statement = statement.opcode;
    if (statement.source_line >= 0) {
      const syntax::SourceLine& source = program_.module->source_lines[static_cast<std::size_t>(statement.source_line)];
      const auto file = program_.module->files.find(source.file);
      site.source = fmt::format("{}:{}", file == program_.module->files.end() ? "?" : file->second, source.line);
    }
  }
  throw KernelTrap(std::move(site), address, reason, kind);
}

}  // namespace warpmat::machine
