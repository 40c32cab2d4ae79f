#include <warpmat/machine_code/live_slots.h>

#include <algorithm>

namespace warpmat::machine_code {

using catalogue::Semantics;
using code::Operation;
using code::RegisterClass;

namespace {

constexpr int unit = 64, source_bytes = 256, bits = 64;

/// Calls visit(word, bit) for the units of these bytes.
template <typename Visit>
void for_units(code::Slot slot, int bytes, Visit visit) {
  for (int at = slot / unit; at <= (slot + bytes - 1) / unit; ++at)
    visit(static_cast<std::size_t>(at / bits), std::uint64_t{1} << at % bits);
}

bool reads_sources_alone(const Operation& operation) {
  return catalogue::has(operation.semantics, catalogue::fact::reads_sources_alone);
}

}  // namespace

LiveSlots::LiveSlots(const code::Program& program, const std::vector<bool>& begins) : program_(program), begins_(begins) {
  knows_sources_ = !program.keeps_registers;  // somebody else may read them
  std::uint32_t largest = 0;
  for (const code::Function& function : program.functions) largest = std::max(largest, function.frame_bytes);
  words_ = (largest + source_bytes) / (unit * bits) + 1;
  at_.resize(program.operations.size() + 1);
  for (std::size_t i = 0; i < at_.size(); ++i)
    if (begins[i]) at_[i].assign(words_, 0);
  for (const Operation& op : program.operations)
    for (int i = 0; i < std::min<int>(op.results, 4); ++i) knows_sources_ &= op.result_class(i) != RegisterClass::quad;
  while (knows_sources_ && pass()) continue;
}

bool LiveSlots::is_live_behind(std::int32_t number, code::Slot slot, int bytes) const {
  if (!knows_sources_) return true;
  return has(behind(number), slot, bytes);
}

bool LiveSlots::is_live_before(std::int32_t number, code::Slot slot, int bytes) const {
  return !knows_sources_ || has(before_[static_cast<std::size_t>(number - first_)], slot, bytes);
}

bool LiveSlots::has(const Set& live, code::Slot slot, int bytes) {
  bool found = false;
  for_units(slot, bytes, [&](std::size_t word, std::uint64_t bit) { found |= (live[word] & bit) != 0; });
  return found;
}

void LiveSlots::look_at(std::int32_t first, std::int32_t end) {
  first_ = first;
  before_.assign(static_cast<std::size_t>(end - first), {});
  if (!knows_sources_) return;
  Set live = behind(end - 1);
  for (std::int32_t i = end - 1; i >= first; --i) {
    step_back(i, live);
    before_[static_cast<std::size_t>(i - first)] = live;
  }
}

/// Of an operation behind which a piece begins.
LiveSlots::Set LiveSlots::behind(std::int32_t number) const {
  const Operation& op = program_.operations[static_cast<std::size_t>(number)];
  const auto next = static_cast<std::size_t>(number) + 1;
  if (!reads_sources_alone(op)) return Set(words_, ~std::uint64_t{0});
  Set live(words_, 0);
  const auto add = [&](std::size_t at) {
    const bool known = at < program_.operations.size() && !at_[at].empty();
    for (std::size_t i = 0; i < words_; ++i) live[i] |= known ? at_[at][i] : ~std::uint64_t{0};
  };
  if (op.semantics == Semantics::branch) add(static_cast<std::size_t>(op.target));
  if (op.guarded || (op.semantics != Semantics::branch && op.semantics != Semantics::exit)) add(next);
  return live;
}

/// From what is live behind the operation to what is live before it.
void LiveSlots::step_back(std::int32_t number, Set& live) const {
  const Operation& op = program_.operations[static_cast<std::size_t>(number)];
  if (!reads_sources_alone(op)) {
    std::ranges::fill(live, ~std::uint64_t{0});
    return;
  }
  const code::Slot* const slots = program_.slots.data() + op.slots;
  for (int i = 0; i < std::min<int>(op.results, 4) && !op.guarded; ++i)
    if (op.result_class(i) != RegisterClass::predicate)
      for_units(slots[i], static_cast<int>(code::bytes(op.result_class(i))),
                [&](std::size_t word, std::uint64_t bit) { live[word] &= ~bit; });
  for (int i = op.results; i < op.results + op.sources; ++i)
    if (slots[i] >= 0) for_units(slots[i], source_bytes, [&](std::size_t word, std::uint64_t bit) { live[word] |= bit; });
}

/// Whether it changes something.
bool LiveSlots::pass() {
  bool changes = false;
  const auto count = static_cast<std::int32_t>(program_.operations.size());
  Set live;
  for (std::int32_t i = count - 1; i >= 0; --i) {
    const auto at = static_cast<std::size_t>(i);
    if (i == count - 1 || begins_[at + 1]) live = behind(i);
    step_back(i, live);
    if (!begins_[at] || live == at_[at]) continue;
    at_[at] = live;
    changes = true;
  }
  return changes;
}

}  // namespace warpmat::machine_code
