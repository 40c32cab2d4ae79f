// Executes a warp's operations and schedules its splits.

#include <algorithm>
#include <cstring>
#include <utility>

#include <warpmat/machine/block.h>
#include <warpmat/machine/execute_row.h>
#include <warpmat/machine/lane_rows.h>
#include <warpmat/machine/operations.h>
#include <warpmat/machine/warp_compiled.h>
#include <warpmat/machine/warpgroup.h>
#include <warpmat/ptx/catalogue/catalogue.h>

namespace warpmat::machine {

using catalogue::Semantics;
using code::Operation;

namespace {

// accesses that may wait for other lanes, until lanes at convergence points are released
constexpr std::uint64_t max_spins = 2000;
constexpr std::uint64_t max_wait = 20'000'000;  // operations until the same

}  // namespace

WarpState::WarpState(Block& block, int index, LaneMask existing, std::uint8_t* registers, std::pmr::memory_resource& memory)
    : block_(block),
      launch_(block.launch()),
      observers_(block.cluster().observers()),
      program_(launch_.program),
      constants_(launch_.constants + launch_.constants_of_rank * static_cast<std::size_t>(block.rank())),
      index_(index),
      existing_(existing),
      live_(existing),
      splits_(&memory),
      convergences_(&memory),
      registers_(registers) {
  local_.resize(std::size_t{launch_.local_bytes} * warp_size);
  splits_.reserve(usual_splits);
  splits_.push_back({.pc = program_.functions.front().first, .lanes = existing, .calls = {}});
  register_limit_.count = program_.limits.registers;
  if (program_.executes(Semantics::wgmma)) wgmma_ = std::make_unique<WarpgroupState>();
}

WarpState::~WarpState() = default;

bool WarpState::choose_split() {
  for (std::size_t i = 0; i < splits_.size(); ++i) {
    std::size_t candidate = current_ + i;
    if (candidate >= splits_.size()) candidate %= splits_.size();
    if (splits_[candidate].state != Split::State::ready) continue;
    current_ = candidate;
    return true;
  }
  return false;
}

/// As choose_split(); if no split can continue because others need lanes that wait at a convergence point, releases those lanes.
bool WarpState::find_split() {
  if (finished()) return false;
  return choose_split() || (release_waiting_lanes(missed_lanes()) && choose_split());
}

WarpState::Status WarpState::run(int& budget) {
  if (!find_split()) return finished() ? Status::finished : Status::blocked;
  return observers_.none() ? run_splits<false>(budget) : run_splits<true>(budget);
}

template <bool observed>
WarpState::Status WarpState::run_splits(int& budget) {
  for (; budget > 0; --budget) {
    run_straight<observed>(budget);
    const Step result = step<observed>();
    switch (result) {
      case Step::next: break;
      case Step::leave_split:
        if (!find_split()) return finished() ? Status::finished : Status::blocked;
        split_slice_ = 0;
        break;
      case Step::yield:
        if (splits_.size() > 1) ++current_;
        return Status::yielded;
      // The operation executes later, as if it had not been reached.
      case Step::gives_way:
      case Step::needs_reservation:
      case Step::reservation_is_over:
        --operations_;
        announced_ = true;
        if (result == Step::gives_way) return Status::yielded;
        return result == Step::needs_reservation ? Status::needs_reservation : Status::reservation_is_over;
    }
    if (++split_slice_ < split_slice) continue;
    split_slice_ = 0;
    if (spins_ > max_spins || operations_ - waiting_since_ > max_wait) release_waiting_lanes(all_lanes);
    ++current_;
    choose_split();
  }
  return Status::yielded;
}

namespace {

/// copy_lanes(), no part of a loop of which the compiler would move the mask's vectors to its beginning.
[[gnu::noinline]] void copy_row(code::RegisterClass register_class, void* to, const void* from, LaneMask lanes) {
  copy_lanes(register_class, to, from, lanes);
}

/// execute_row() of one result for some lanes; others keep theirs.
[[gnu::noinline]] void execute_row_for(const code::Program& program, const Operation& operation, void* result, const void* const* sources,
                                       LaneMask lanes) {
  alignas(code::register_alignment) std::uint8_t fresh[2 * wide_row];  // of a quad
  void* const results[] = {fresh, nullptr};
  execute_row(program, operation, results, sources);
  copy_lanes(operation.result_class(0), result, fresh, lanes);
}

/// Where the operands of a run of operations are.
struct Places {
  const code::Slot* slots;  ///< Program::slots
  std::uint8_t* frame;
  const std::uint8_t* constants;
};

/// Executes an operation that has a shortcut, for all lanes that are left if `whole`; otherwise for those of `lanes`, and others keep their
/// registers. False if it has none; `parameters`: that of a load of a parameter counts.
template <bool whole>
[[gnu::always_inline]] inline bool take_shortcut(WarpState& warp, const Operation& operation, const Places& places, bool parameters,
                                                 LaneMask lanes) {
  using code::Shortcut;
  std::uint8_t* const frame = places.frame;
  const std::uint8_t* const constants = places.constants;
  const auto copy = [&](code::RegisterClass row, void* to, const void* from) {
    if constexpr (whole)
      row == code::RegisterClass::word ? std::memcpy(to, from, word_row) : std::memcpy(to, from, wide_row);  // two sizes: no call
    else
      copy_row(row, to, from, lanes);
  };
  const Shortcut shortcut = operation.shortcut;
  if (shortcut == Shortcut::none) return false;
  const code::Slot* const slot = places.slots + operation.slots;
  std::uint8_t* const result = frame + slot[0];
  if (shortcut == Shortcut::kernel || shortcut == Shortcut::function) {  // most; the CPU foresees a branch best
    const void* sources[code::fewest_slots] = {place_of(slot[1], frame, constants), place_of(slot[2], frame, constants),
                                               place_of(slot[3], frame, constants)};
    sources[operation.sources] = nullptr;
    if constexpr (whole) {
      void* const results[] = {result, nullptr};
      execute_row(warp.program(), operation, results, sources);
    } else {
      execute_row_for(warp.program(), operation, result, sources, lanes);
    }
  } else if (shortcut == Shortcut::copies_words) {
    copy(code::RegisterClass::word, result, place_of(slot[1], frame, constants));
  } else if (shortcut == Shortcut::copies_wides) {
    copy(code::RegisterClass::wide, result, place_of(slot[1], frame, constants));
  } else if (shortcut == Shortcut::special_register) {
    special(warp, operation, lanes);
  } else if (shortcut != Shortcut::keeps) {
    if (!parameters) return false;
    copy(shortcut == Shortcut::loads_word ? code::RegisterClass::word : code::RegisterClass::wide, result, constants + ~slot[2]);
  }
  return true;
}

/// Executes one operation of a run for the lanes of `mask`. Returns false if it is for step().
template <bool observed>
inline bool execute_straight(WarpState& warp, Split& s, const Operation& operation, LaneMask mask) {
  if (operation.semantics == Semantics::load || operation.semantics == Semantics::store) {
    if (warp.program().access(operation).ordered) return false;
    if (mask != 0) operation.semantics == Semantics::load ? load<observed>(warp, operation, mask) : store<observed>(warp, operation, mask);
    return true;
  }
  switch (operation.semantics) {
    case Semantics::compute:
    case Semantics::select:
      if (mask != 0) compute(warp, operation, mask);
      return true;
    case Semantics::branch:
      if (mask != 0 && mask != s.lanes) return false;
      if (mask != 0) s.pc = operation.target - 1;
      return true;
    case Semantics::atomic:
      if (code::may_have_order(warp.program(), operation)) return false;
      if (mask != 0) atomic<observed>(warp, operation, mask);
      return true;
    case Semantics::special:
      if (mask != 0) special(warp, operation, mask);
      return true;
    default: return false;
  }
}

}  // namespace

/// Executes operations of the split, `most` at most, as far as they compute, load, store or update in no defined order, or are matrix
/// instructions or branches that all lanes take or none. Returns their number. `whole`: the split has all lanes that are left.
template <bool observed, bool whole>
int WarpState::run_statements(Split& s, int most) {
  const Operation* const operations = program_.operations.data();
  const Operation* operation = operations + s.pc;
  const Places places{program_.slots.data(), registers_ + s.frame, constants_};
  const LaneMask lanes = whole ? all_lanes : s.lanes;
  const std::int32_t convergence = converges_at(s);
  const Operation* const end = convergence >= 0 ? operations + convergence : nullptr;
  const std::uint64_t before = operations_;
  bool parameters = !observed || !observers_.want(EventKinds::accesses);
  int done = 0;
  for (; done < most; ++done, ++operation) {
    if (operation == end) break;
    if (take_shortcut<whole>(*this, *operation, places, parameters, lanes)) continue;
    s.pc = static_cast<std::int32_t>(operation - operations);
    operations_ = before + static_cast<std::uint64_t>(done) + 1;  // clocks and observers read it
    const LaneMask mask = guarded_lanes(*operation, s);
    if (operation->semantics == Semantics::matrix && mask == all_lanes) {
      const int count = perform_matrices(*this, *operation, most - done);
      s.pc += count - 1;
      done += count - 1;
    } else if (!execute_straight<observed>(*this, s, *operation, mask)) {
      break;
    }
    // an access may make observers ask for what comes next; of a run they have been told
    const bool asked = observed && !catalogue::computes(operation->semantics) && observers_.want(EventKinds::operations | EventKinds::runs);
    operation = operations + s.pc;
    if constexpr (observed) parameters = !observers_.want(EventKinds::accesses);
    if (!asked) continue;
    ++done, ++operation;
    break;
  }
  s.pc = static_cast<std::int32_t>(operation - operations);
  operations_ = before + static_cast<std::uint64_t>(done);
  return done;
}

/// The same by machine code, at one of whose entries the split is.
int WarpState::run_compiled(Split& s, const code::MachineCode& code, int most) {
  code::CodeContext& c = block_.code_context();
  c.frame = registers_ + s.frame;
  if (c.warp != this) {
    c.warp = this;
    c.thread_indices = launch_.thread_indices.first_row(index_);
    c.local = local_.data();
    c.local_bytes = launch_.local_bytes;
  }
  if (!observers_.none()) set_plain_bytes(c, *this);
  c.local_frame = s.local;
  c.lanes = s.lanes;
  c.converges_at = converges_at(s);
  c.most = c.left = most;
  c.before = operations_;
  c.pc = s.pc;
  c.stored = 0;
  code.run(c);
  if (c.stored != 0) block_.make_progress();
  if (c.exception != nullptr) std::rethrow_exception(std::exchange(c.exception, nullptr));  // at the operation that threw
  s.pc = c.pc;
  const int done = most - c.left;
  operations_ = c.before + static_cast<std::uint64_t>(done);
  return done;
}

void WarpState::execute_straight_at(std::int32_t pc, std::uint64_t operations) {
  Split& s = split();
  s.pc = pc;
  operations_ = operations;
  const Operation& operation = program_.operations[static_cast<std::size_t>(pc)];
  const LaneMask mask = guarded_lanes(operation, s);
  const bool straight =
      observers_.none() ? execute_straight<false>(*this, s, operation, mask) : execute_straight<true>(*this, s, operation, mask);
  if (!straight && mask != 0) execute(*this, operation, mask);  // an access to shared memory with an order
}

/// run_statements() for the rest of the budget and of the split's slice, of which it leaves the last operation to step(). Where machine
/// code has entries, it executes what it can.
template <bool observed>
void WarpState::run_straight(int& budget) {
  if (observed && observers_.want(EventKinds::operations)) return;
  Split& s = split();
  const bool alone = s.lanes == live_;  // no other split comes after its slice, so that code need not end there
  int most = (alone ? budget : std::min(budget, split_slice - split_slice_)) - 1;
  if (observed && observers_.want(EventKinds::runs)) most = tell_run(most);
  const code::MachineCode* code = program_.hot_code->find(s.lanes == all_lanes);
  if (observed && code != nullptr && !observe_nothing(observers_, *code)) code = nullptr;
  while (true) {
    int done = 0, limit = most;
    if (code != nullptr) {
      if (code->place(s.pc).code != 0) done = run_compiled(s, *code, most);
      const code::MachineCode::Place& place = code->place(s.pc);
      limit = std::min(most - done, static_cast<int>(place.to_next_entry));
      if (place.steps || (observed && !observe_nothing(observers_))) limit = 0;  // or an access has made them ask for what comes next
    }
    int interpreted = 0;
    if (limit > 0) interpreted = alone ? run_statements<observed, true>(s, limit) : run_statements<observed, false>(s, limit);
    done += interpreted;
    budget -= done;
    split_slice_ = (split_slice_ + done) % split_slice;
    most -= done;
    if (code == nullptr || interpreted < limit || limit <= 0 || most <= 0) return;
  }
}

namespace {

/// Whether step() would only compute the operation, for all lanes of the split.
bool computes_alone(const Operation& operation) {
  return catalogue::computes(operation.semantics) && !operation.guarded && !operation.converges;
}

}  // namespace

/// Tells observers of the operations that are about to be executed and only compute. Returns their number, which is at most `most`.
int WarpState::tell_run(int most) {
  const Operation* const first = &program_.operations[static_cast<std::size_t>(split().pc)];
  const auto count = static_cast<int>(std::find_if_not(first, first + std::max(most, 0), computes_alone) - first);
  if (count != 0)
    observers_.tell(EventKinds::runs, &Observer::run, RunEvent{Event(*this, *first, split().lanes), static_cast<std::uint32_t>(count)});
  return count;
}

/// The split's lanes whose guard is true.
LaneMask WarpState::guarded_lanes(const Operation& operation, const Split& s) const {
  return machine::guarded_lanes(operation, s.lanes, registers_ + s.frame, constants_);
}

template <bool observed>
WarpState::Step WarpState::step() {
  Split& s = split();
  const Operation& operation = program_.operations[static_cast<std::size_t>(s.pc)];
  if (operation.converges && arrive_at_convergence(s.pc)) return Step::leave_split;
  const LaneMask mask = guarded_lanes(operation, s);
  ++operations_;
  const bool announced = std::exchange(announced_, false);
  constexpr EventKinds statements = EventKinds::operations | EventKinds::runs;
  if (observed && observers_.want(statements) && !announced && !s.resumes)
    observers_.tell(statements, &Observer::operation, Event(*this, operation, mask));
  return mask == 0 ? advance() : execute(*this, operation, mask);
}

void WarpState::tell_order(Synchronisation::Kind kind, LaneMask mask, std::uint8_t* const* words) const {
  if (!observers_.want(EventKinds::synchronisation)) return;
  const Event at = event(program_.operations[static_cast<std::size_t>(split().pc)], mask);
  observers_.tell(EventKinds::synchronisation, &Observer::synchronises,
                  Synchronisation{.kind = kind,
                                  .rank = block_.rank(),
                                  .warp = index_,
                                  .acquired = mask,
                                  .released = mask,
                                  .words = {words, words == nullptr ? 0 : std::size_t{warp_size}},
                                  .event = &at});
}

}  // namespace warpmat::machine
