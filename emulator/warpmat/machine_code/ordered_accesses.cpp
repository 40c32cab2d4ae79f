#include <warpmat/machine_code/ordered_accesses.h>

#include <algorithm>

namespace warpmat::machine_code {

using catalogue::Semantics;
using code::Operation;

namespace {

bool decides_what_comes_next(const Operation& operation) {
  return operation.target >= 0 || operation.semantics == Semantics::branch_table || operation.semantics == Semantics::exit;
}

}  // namespace

OrderedAccesses::OrderedAccesses(const code::Program& program) : program_(program) {
  find_loops();
}

bool OrderedAccesses::can_be_inside(std::int32_t number) {
  const code::Access& access = program_.access(operation(number));
  if (access.space != Space::shared || access.relative) return false;
  if (operation(number).semantics == Semantics::store || !in_loop_[static_cast<std::size_t>(number)]) return true;
  if (program_.functions.size() > 1) return false;
  if (decides_.empty()) find_deciding();
  return !decides_[static_cast<std::size_t>(number)];
}

template <typename Visit>
void OrderedAccesses::for_targets(const Operation& operation, Visit visit) const {
  if (operation.target >= 0) visit(operation.target);
  if (operation.semantics == Semantics::branch_table)
    for (const std::int32_t target : program_.of<code::BranchTable>(operation)) visit(target);
}

/// What a branch goes back over. Functions may be called again and again.
void OrderedAccesses::find_loops() {
  in_loop_.assign(program_.operations.size(), program_.functions.size() > 1);
  for (std::int32_t i = 0; i < static_cast<std::int32_t>(in_loop_.size()); ++i)
    for_targets(operation(i), [&](std::int32_t first) {
      if (first <= i) std::fill(in_loop_.begin() + first, in_loop_.begin() + i + 1, true);
    });
}

/// Goes backwards over the program until nothing changes.
void OrderedAccesses::find_deciding() {
  decides_.assign(program_.operations.size(), false);
  const std::size_t slots = program_.functions.front().frame_bytes / slot_bytes + 1;
  std::vector<Slots> at(program_.operations.size(), Slots());  // where branches lead: what decides from there on
  for (const Operation& each : program_.operations)
    for_targets(each, [&](std::int32_t target) { at[static_cast<std::size_t>(target)].assign(slots, false); });
  for (bool changes = true; changes;) {
    changes = false;
    Slots deciding(slots, false);
    for (std::int32_t i = static_cast<std::int32_t>(at.size()) - 1; i >= 0; --i) {
      if (decides_what_comes_next(operation(i)) && !operation(i).guarded) deciding.assign(slots, false);
      for_targets(operation(i), [&](std::int32_t target) {
        const Slots& there = at[static_cast<std::size_t>(target)];
        for (std::size_t slot = 0; slot < slots; ++slot) deciding[slot] = deciding[slot] || there[slot];
      });
      step_back(i, deciding);
      Slots& before = at[static_cast<std::size_t>(i)];
      if (before.empty() || before == deciding) continue;
      before = deciding;
      changes = true;
    }
  }
}

/// From what decides behind the operation to what decides before it.
void OrderedAccesses::step_back(std::int32_t number, Slots& deciding) {
  const Operation& each = operation(number);
  if (!catalogue::has(each.semantics, catalogue::fact::reads_sources_alone)) return deciding.assign(deciding.size(), true);
  const code::Slot* const slots = program_.slots.data() + each.slots;
  bool decides = decides_what_comes_next(each);
  for (int i = 0; i < each.results; ++i) {
    const auto kind = i < 4 ? each.result_class(i) : code::RegisterClass::quad;
    if (slots[i] < 0) continue;
    const auto first = deciding.begin() + slots[i] / slot_bytes;
    const auto end = first + std::min<std::ptrdiff_t>(deciding.end() - first, static_cast<std::ptrdiff_t>(code::bytes(kind)) / slot_bytes);
    if (std::find(first, end, true) == end) continue;
    decides = true;
    if (!each.guarded) std::fill(first, end, false);
  }
  if (!decides) return;
  decides_[static_cast<std::size_t>(number)] = true;
  const auto add = [&](code::Slot slot) {
    if (slot >= 0) deciding[static_cast<std::size_t>(slot) / slot_bytes] = true;
  };
  if (each.guarded) add(each.guard);
  std::for_each_n(slots + each.results, each.sources, add);
}

}  // namespace warpmat::machine_code
