#include <warpmat/ir/product_runs.h>

#include <algorithm>
#include <span>

#include <warpmat/execute/product_run.h>

namespace warpmat::code {
namespace {

using Slots = std::span<const Slot>;

/// A product of registers of 32 bits, and where its operands are.
struct Product {
  Matrix* matrix = nullptr;  ///< nullptr: none
  Slots d, a, b;
};

/// Of an operand of `operation`, whose registers have 32 bits.
Slots slots_of(const Program& program, const Operation& operation, const Form& form, OperandName name) {
  std::size_t first = operation.slots;
  for (const Operand& operand : form.operands) {
    const auto words = static_cast<std::size_t>(operand.words());
    if (operand.name == name) return Slots(program.slots).subspan(first, words);
    first += words;
  }
  return {};
}

bool has_equal(Slots slots, Slots others) {
  return std::ranges::any_of(slots, [&](Slot slot) { return std::ranges::find(others, slot) != others.end(); });
}

Product product_of(Program& program, const Operation& operation) {
  if (operation.semantics != catalogue::Semantics::matrix) return {};
  Matrix& matrix = program.of<Matrix>(operation);
  const Form& form = matrix.instruction.form();
  const auto is_wide = [](const Operand& operand) {
    return operand.kind == OperandKind::fragment && operand.fragment.register_bits() == 64;
  };
  if (form.mnemonic != Mnemonic::mma || std::ranges::any_of(form.operands, is_wide)) return {};
  const Slots d = slots_of(program, operation, form, OperandName::d);
  for (std::size_t i = 1; i < d.size(); ++i)
    if (has_equal(d.first(i), d.subspan(i, 1))) return {};
  matrix.kernel = find_product_kernel(matrix.instruction);
  if (matrix.kernel == nullptr) return {};
  return {&matrix, d, slots_of(program, operation, form, OperandName::a), slots_of(program, operation, form, OperandName::b)};
}

bool may_follow(const Product& before, const Product& next, const Operation& operation) {
  return before.matrix != nullptr && next.matrix != nullptr && !operation.guarded && !operation.converges &&
         before.matrix->kernel == next.matrix->kernel;
}

}  // namespace

void mark_product_runs(Program& program, std::int32_t first) {
  const std::span<const Operation> operations = std::span(program.operations).subspan(static_cast<std::size_t>(first));
  Product next;
  for (std::size_t i = operations.size(); i-- > 0;) {
    const Product product = product_of(program, operations[i]);
    if (product.matrix != nullptr) product.matrix->run = 1;
    if (i + 1 < operations.size() && may_follow(product, next, operations[i + 1])) {
      product.matrix->run = static_cast<std::uint8_t>(std::min<std::size_t>(next.matrix->run + std::size_t{1}, ProductRun::most));
      next.matrix->same_a = std::ranges::equal(product.a, next.a) && !has_equal(product.d, next.a);
      next.matrix->same_b = std::ranges::equal(product.b, next.b) && !has_equal(product.d, next.b);
    }
    next = product;
  }
}

}  // namespace warpmat::code
