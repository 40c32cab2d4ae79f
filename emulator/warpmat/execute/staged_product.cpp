#include <warpmat/execute/staged_product.h>

#include <algorithm>

namespace warpmat {

const FastPath* find_product(const Instruction& instruction) {
  const Form& form = instruction.form();
  if (form.mnemonic != Mnemonic::mma) return nullptr;
  return std::ranges::equal(form.operands, product_order, {}, &Operand::name) ? find_fast_path(form, instruction.lowering()) : nullptr;
}

const FastPath* find_lane_product(const FastPath* product) {
  return product != nullptr && std::ranges::all_of(product_order, [&](OperandName name) { return product->takes_lanes(name); }) ? product
                                                                                                                                : nullptr;
}

}  // namespace warpmat
