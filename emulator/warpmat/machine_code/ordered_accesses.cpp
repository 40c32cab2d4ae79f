#include <warpmat/machine_code/ordered_accesses.h>

#include <algorithm>

namespace warpmat::machine_code {

using catalogue::Semantics;
using code::Operation;

namespace {

/// The bytes of registers that depend on a value.
class Dependent {
 public:
  explicit Dependent(const code::Program& program) : program_(program) {
    std::uint32_t largest = 0;
    for (const code::Function& function : program.functions) largest = std::max(largest, function.frame_bytes);
    bytes_.resize(largest + code::bytes(code::RegisterClass::quad));
  }

  bool has(code::Slot slot) const { return slot >= 0 && bytes_[static_cast<std::size_t>(slot)]; }

  bool reads(const Operation& operation) const {
    if (operation.guarded && has(operation.guard)) return true;
    const code::Slot* const slots = program_.slots.data() + operation.slots;
    return std::any_of(slots + operation.results, slots + operation.results + operation.sources,
                       [this](code::Slot slot) { return has(slot); });
  }

  /// Returns whether that is new.
  bool add_results(const Operation& operation) {
    bool any = false;
    for (int i = 0; i < operation.results; ++i) {
      const code::Slot slot = program_.slots[operation.slots + static_cast<std::size_t>(i)];
      if (slot < 0 || has(slot)) continue;
      const std::size_t size = i < 4 ? code::bytes(operation.result_class(i)) : code::bytes(code::RegisterClass::quad);
      std::fill_n(bytes_.begin() + slot, size, true);
      any = true;
    }
    return any;
  }

 private:
  const code::Program& program_;
  std::vector<bool> bytes_;
};

bool decides_what_comes_next(const Operation& operation) {
  return operation.target >= 0 || operation.semantics == Semantics::branch_table || operation.semantics == Semantics::exit;
}

}  // namespace

OrderedAccesses::OrderedAccesses(const code::Program& program) : program_(program) {
  find_loops();
}

bool OrderedAccesses::can_be_inside(std::int32_t number) const {
  const code::Access& access = program_.access(operation(number));
  if (access.space != Space::shared || access.relative) return false;
  if (operation(number).semantics == Semantics::store || !in_loop_[static_cast<std::size_t>(number)]) return true;
  return program_.functions.size() == 1 && !decides_a_branch(number);
}

/// What a branch goes back over. Functions may be called again and again.
void OrderedAccesses::find_loops() {
  in_loop_.assign(program_.operations.size(), program_.functions.size() > 1);
  const auto add = [this](std::int32_t first, std::int32_t last) {
    if (first >= 0 && first <= last) std::fill(in_loop_.begin() + first, in_loop_.begin() + last + 1, true);
  };
  for (std::int32_t i = 0; i < static_cast<std::int32_t>(in_loop_.size()); ++i) {
    add(operation(i).target, i);
    if (operation(i).semantics == Semantics::branch_table)
      for (const std::int32_t target : program_.of<code::BranchTable>(operation(i))) add(target, i);
  }
}

/// Whether a branch depends on what the load gives, by way of registers.
bool OrderedAccesses::decides_a_branch(std::int32_t number) const {
  Dependent dependent(program_);
  bool grows = dependent.add_results(operation(number));
  while (grows) {
    grows = false;
    for (const Operation& each : program_.operations) {
      if (!dependent.reads(each)) continue;
      if (decides_what_comes_next(each)) return true;
      grows |= dependent.add_results(each);
    }
  }
  return false;
}

}  // namespace warpmat::machine_code
