#include <warpmat/execute/staged_product.h>

#include <algorithm>

namespace warpmat::inline v0_1 {

const FastPath* find_product(const Instruction& instruction) {
  const Form& form = instruction.form();
  if (form.mnemonic != Mnemonic::mma) return nullptr;
  constexpr OperandName order[] = {OperandName::d, OperandName::a, OperandName::b, OperandName::c};
  return std::ranges::equal(form.operands, order, {}, &Operand::name) ? find_fast_path(form, instruction.lowering()) : nullptr;
}

const FastPath* find_lane_product(const FastPath* product) {
  constexpr OperandName order[] = {OperandName::d, OperandName::a, OperandName::b, OperandName::c};
  return product != nullptr && std::ranges::all_of(order, [&](OperandName name) { return product->takes_lanes(name); }) ? product : nullptr;
}

}  // namespace warpmat::inline v0_1
