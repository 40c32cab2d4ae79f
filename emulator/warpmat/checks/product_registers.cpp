#include <warpmat/checks/product_registers.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <span>

namespace warpmat::checks {

namespace {

/// The slots of the registers of a wgmma.mma_async that are not to be touched before the wait: its accumulators, and those of A.
std::span<const code::Slot> pending_slots(const code::Program& program, const code::Operation& operation) {
  const code::WarpgroupProduct& product = program.of<code::WarpgroupProduct>(operation);
  const int of_a = product.a_in_registers ? product.instruction.form().a_registers() : 0;
  return std::span(program.slots).subspan(operation.slots, static_cast<std::size_t>(operation.results + of_a));
}

/// ProductRegisters::next_concerned. The slots count from the beginning of a function's registers. Functions have frames of their own,
/// which never overlap (code::CallTree), so only operations of the product's function can have its registers: equal slots of
/// other functions find some operations too many, and never too few.
std::vector<std::uint32_t> find_concerned(const code::Program& program) {
  const std::uint32_t largest = std::ranges::max_element(program.functions, {}, &code::Function::frame_bytes)->frame_bytes;
  std::vector<bool> of_products(largest / code::register_alignment + 1);
  const auto number_of = [](code::Slot slot) { return static_cast<std::size_t>(slot) / code::register_alignment; };
  for (const code::Operation& operation : program.operations) {
    if (operation.semantics != catalogue::Semantics::wgmma) continue;
    for (const code::Slot slot : pending_slots(program, operation))
      if (slot >= 0) of_products[number_of(slot)] = true;
  }
  std::vector<std::uint32_t> next(program.operations.size() + 1, static_cast<std::uint32_t>(program.operations.size()));
  for (std::size_t i = program.operations.size(); i-- != 0;) {
    const code::Operation& operation = program.operations[i];
    const auto slots = std::span(program.slots).subspan(operation.slots, static_cast<std::size_t>(operation.results + operation.sources));
    const bool concerned = std::ranges::any_of(slots, [&](code::Slot slot) { return slot >= 0 && of_products[number_of(slot)]; });
    next[i] = concerned ? static_cast<std::uint32_t>(i) : next[i + 1];
  }
  return next;
}

}  // namespace

ProductRegisters::ProductRegisters(const code::Program& program) {
  if (!program.executes(catalogue::Semantics::wgmma)) return;
  const auto results = [&](std::uint32_t i) {
    return std::span(program.slots).subspan(program.operations[i].slots, program.operations[i].results);
  };
  const auto less = [&](std::uint32_t a, std::uint32_t b) { return std::ranges::lexicographical_compare(results(a), results(b)); };
  std::set<std::uint32_t, decltype(less)> distinct(less);  // the first product with each set of accumulators
  accumulators.resize(program.operations.size());
  for (std::uint32_t i = 0; i < program.operations.size(); ++i)
    if (program.operations[i].semantics == catalogue::Semantics::wgmma) accumulators[i] = *distinct.insert(i).first;
  next_concerned = find_concerned(program);
}

}  // namespace warpmat::checks
