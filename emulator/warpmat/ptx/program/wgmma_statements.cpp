#include <algorithm>

#include <fmt/format.h>

#include <warpmat/ptx/program/function_resolver.h>

namespace warpmat::code {

using catalogue::Semantics;
using catalogue::ValueType;
using Kind = syntax::Operand::Kind;

/// An immediate that is one of two numbers: whether it is the second.
bool FunctionResolver::flag(const syntax::Operand& operand, const char* what, std::string_view clear, std::string_view set) const {
  const std::string given = fmt::format("{}{}", operand.negative ? "-" : "", operand.text);
  if (operand.kind == Kind::number && (given == clear || given == set)) return given == set;
  fail(operand, fmt::format("{} is {} or {}; it is '{}'", what, clear, set, given));
}

/// The numbers from operand `first` on: imm-scale-a, imm-scale-b, imm-trans-a of a descriptor, imm-trans-b.
WgmmaImmediates FunctionResolver::wgmma_immediates(const WgmmaForm& form, bool a_in_registers, std::size_t first) {
  WgmmaImmediates immediates;
  const std::size_t transposes = form.transposes() ? (a_in_registers ? 1 : 2) : 0;
  const std::size_t expected = first + (form.negates() ? 2 : 0) + transposes;
  if (statement_->operands.size() != expected)
    fail(fmt::format("{} takes {} operands here, {} are given", statement_->opcode, expected, statement_->operands.size()));
  if (form.negates()) {
    immediates.negates_a = flag(operand(first), "imm-scale-a", "1", "-1");
    immediates.negates_b = flag(operand(first + 1), "imm-scale-b", "1", "-1");
    first += 2;
  }
  if (transposes == 2 && flag(operand(first++), "imm-trans-a", "0", "1")) immediates.major_a = Major::mn;
  if (transposes != 0 && flag(operand(first), "imm-trans-b", "0", "1")) immediates.major_b = Major::mn;
  return immediates;
}

/// wgmma.mma_async d, a or a-desc, b-desc{, sp-meta, sp-sel}, scale-d{, imm-scale-a, imm-scale-b{, imm-trans-a}{, imm-trans-b}};
void FunctionResolver::wgmma() {
  const WgmmaForm* form = find_wgmma(statement_->opcode);
  if (form == nullptr) fail(explain_unknown_wgmma(statement_->opcode));
  if (const auto reason = unavailable(*form, *draft_.program.target, draft_.program.module->version)) fail(*reason);
  const ValueType &word = *catalogue::find_value_type("b32"), &descriptor = *catalogue::find_value_type("b64");
  DraftOperation operation;
  operation.operation.semantics = Semantics::wgmma;
  operation.results = group(operand(0), word, true, static_cast<std::size_t>(form->d_registers()));
  const bool a_in_registers = operand(1).kind == Kind::vector;
  operation.sources =
      group(operand(1), a_in_registers ? word : descriptor, false, a_in_registers ? static_cast<std::size_t>(form->a_registers()) : 1);
  operation.sources.push_back(source(operand(2), descriptor));
  std::size_t next = 3;
  std::uint64_t selector = 0;
  if (form->sparse()) {
    operation.sources.push_back(source(operand(3), word));
    selector = immediate(operand(4));
    if (selector >= static_cast<std::uint64_t>(form->selectors()))
      fail(operand(4), fmt::format("the selector is a number from 0 to {}", form->selectors() - 1));
    next = 5;
  }
  operation.sources.push_back(source(operand(next), *catalogue::find_value_type("pred")));
  WgmmaImmediates immediates = wgmma_immediates(*form, a_in_registers, next + 1);
  immediates.selector = static_cast<int>(selector);
  operation.sources.insert(operation.sources.end(), operation.results.begin(), operation.results.end());
  operation.operation.detail = static_cast<std::uint32_t>(draft_.program.products.size());
  draft_.program.products.push_back({Wgmma(*form, *draft_.program.target, draft_.program.module->version, immediates), a_in_registers});
  add(std::move(operation));
}

void FunctionResolver::wgmma_wait() {
  DraftOperation operation;
  operation.operation.semantics = Semantics::wgmma_wait;
  operation.operation.detail = static_cast<std::uint32_t>(std::min<std::uint64_t>(immediate(operand(0)), 0xffffffff));
  add(std::move(operation));
}

/// Accumulators are written where they are waited for: until there nothing else may have their places.
void FunctionResolver::keep_accumulators() {
  std::vector<Value> accumulators;
  for (const DraftOperation& operation : function_.operations)
    if (operation.operation.semantics == Semantics::wgmma)
      accumulators.insert(accumulators.end(), operation.results.begin(), operation.results.end());
  std::ranges::sort(accumulators);
  accumulators.erase(std::unique(accumulators.begin(), accumulators.end()), accumulators.end());
  for (DraftOperation& operation : function_.operations)
    if (operation.operation.semantics == Semantics::wgmma_wait) operation.keeps = accumulators;
}

}  // namespace warpmat::code
