#include <fmt/core.h>

#include <warpmat/ptx/program/function_resolver.h>

namespace warpmat::inline v0_1::code {

using catalogue::Semantics;
using Kind = syntax::Operand::Kind;

namespace {

/// The state space of the matrix of wmma.load or wmma.store: by a register's address, or by a variable in space `variable`.
Space matrix_space(const Form& form, std::optional<Space> variable) {
  return form.space == Space::generic ? variable.value_or(Space::generic) : form.space;
}

}  // namespace

/// The statement's form as its text names it, and the instruction on the target.
const std::pair<const Form*, Instruction>& FunctionResolver::matrix_instruction() {
  const std::string& opcode = statement_->opcode;
  if (const auto known = draft_.matrices.find(opcode); known != draft_.matrices.end()) return known->second;
  const Form* form = find_form(opcode);
  if (form == nullptr) fail(explain_unknown_opcode(opcode));
  const Target& target = *draft_.program.target;
  const PtxVersion version = draft_.program.module->version;
  if (const auto reason = unavailable(*form, target, version)) fail(*reason);
  return draft_.matrices.try_emplace(opcode, form, Instruction(*form, target, version)).first->second;
}

/// ldmatrix, stmatrix, movmatrix, mma and wmma: the operands are the form's (forms.h), in its order.
void FunctionResolver::matrix() {
  const auto& [form, instruction] = matrix_instruction();
  Matrix matrix{.instruction = instruction, .runs = {}};
  DraftOperation operation;
  operation.operation.semantics = Semantics::matrix;
  const std::size_t given_count = statement_->operands.size(), most = form->operands.size();
  const bool no_stride = form->operands.back().kind == OperandKind::stride && given_count + 1 == most;
  if (given_count != most && !no_stride) fail(fmt::format("{} takes {} operands", statement_->opcode, most));
  for (std::size_t i = 0; i < given_count; ++i) {
    const Operand& wanted = form->operands[i];
    const syntax::Operand& given = operand(i);
    switch (wanted.kind) {
      case OperandKind::address: {
        const Place where = place(given);
        const bool shared = statement_->opcode.find(".shared") != std::string::npos;
        matrix.generic = !shared && where.space != Space::shared;
        if (moves_matrix(*form)) {
          matrix.space = matrix_space(*form, where.space);
          matrix.runs = matrix_runs(*form);
        }
        matrix.offset = where.offset;
        matrix.narrow_address = class_of(where.base) == RegisterClass::word;
        operation.sources.push_back(where.base);
        break;
      }
      case OperandKind::selector: {
        const std::uint64_t value = immediate(given);
        if (value >= static_cast<std::uint64_t>(wanted.choices))
          fail(given, fmt::format("the selector is a number from 0 to {}", wanted.choices - 1));
        operation.sources.push_back(draft_.constants.add(RegisterClass::word, value));
        break;
      }
      case OperandKind::stride: operation.sources.push_back(source(given, *find_ptx_type("u32"))); break;
      case OperandKind::ids:
        for (const Value value : group(given, *find_ptx_type("b16"), false, 2)) operation.sources.push_back(value);
        break;
      case OperandKind::fragment: {
        const bool wide = wanted.fragment.register_bits() == 64;
        const DataType& type = *find_ptx_type(wide ? "f64" : wanted.format == Format::f32 ? "f32" : "b32");
        std::vector<Value>& values = wanted.written ? operation.results : operation.sources;
        for (const Value value : group(given, type, wanted.written, static_cast<std::size_t>(wanted.registers()))) values.push_back(value);
        break;
      }
    }
  }
  operation.operation.detail = static_cast<std::uint32_t>(draft_.program.matrices.size());
  draft_.program.matrices.push_back(std::move(matrix));
  add(std::move(operation));
}

}  // namespace warpmat::inline v0_1::code
