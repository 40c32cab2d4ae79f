#include <span>
#include <vector>

#include <fmt/core.h>

#include <warpmat/lower/list_draft.h>
#include <warpmat/lower/makers.h>
#include <warpmat/lower/operands.h>
#include <warpmat/tables/nearest_opcode.h>

namespace warpmat::code {

using catalogue::Semantics;
using Kind = syntax::Operand::Kind;

namespace {

/// The state space of the matrix of wmma.load or wmma.store: by a register's address, or by a variable in space `variable`.
Space matrix_space(const Form& form, std::optional<Space> variable) {
  return form.space == Space::generic ? variable.value_or(Space::generic) : form.space;
}

/// The statement's form as its text names it, and the instruction on the target. Each statement of a list has the target and the version
/// that were in force where it stands.
std::pair<const Form*, Instruction> matrix_instruction(Context& in) {
  const std::string& opcode = in.opcode();
  if (in.list != nullptr) return {in.list->form, *in.list->instruction};
  if (const auto known = in.draft.matrices.find(opcode); known != in.draft.matrices.end()) return known->second;
  const Form* form = find_form(opcode);
  if (form == nullptr) in.fail(explain_unknown_form(opcode));
  const Target& target = *in.draft.program.target;
  const PtxVersion version = in.draft.program.module->version;
  if (const auto reason = unavailable(*form, target, version)) in.fail(*reason);
  return in.draft.matrices.try_emplace(opcode, form, Instruction(*form, target, version)).first->second;
}

/// Where the operand of a matrix instruction stands.
Seat matrix_seat(const Context& in, const Form& form, const Operand& wanted, const Instruction& instruction) {
  Seat seat = seat_of(in, register_type(wanted), wanted.written, false);
  seat.role = "operand";
  seat.name = wanted.name;
  const bool integer = wanted.kind == OperandKind::stride || wanted.kind == OperandKind::selector;
  seat.accepts = integer ? accepts_integers : accepted_by(form, wanted);
  seat.may_discard = instruction.lowering().exceptions.discardable;
  return seat;
}

/// The number that selects a part of another operand's registers.
Value matrix_selector(Context& in, const syntax::Operand& given, const Operand& wanted, const Seat& seat) {
  const int largest = wanted.choices - 1;
  const bool is_number = given.kind == Kind::number && !given.negative && integer_of(given);
  if (!is_number) refuse(in, {.kind = Objection::Kind::selector, .number = largest}, seat, given);
  const std::uint64_t value = *integer_of(given);
  if (value > static_cast<std::uint64_t>(largest)) refuse(in, {.kind = Objection::Kind::selector_range, .number = largest}, seat, given);
  return in.constant(RegisterClass::word, value);
}

/// What the rules about all registers of an operand ask, of the values that `given` means.
std::vector<SeatedItem> seated(const Context& in, std::span<const syntax::Operand> given, std::span<const Value> values) {
  std::vector<SeatedItem> items;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const DataType* const declared = is_constant(values[i]) ? nullptr : in.function.registers[static_cast<std::size_t>(values[i])].type;
    if (declared != nullptr)
      items.push_back({SeatedItem::Kind::register_, declared});
    else if (given[i].kind == Kind::number)
      items.push_back({.kind = SeatedItem::Kind::number, .number = given[i].text});
    else
      items.push_back({given[i].discards() ? SeatedItem::Kind::discard : SeatedItem::Kind::laneid});
  }
  return items;
}

/// The registers of a matrix.
void fragment(Context& in, const syntax::Operand& given, const Operand& wanted, const Seat& seat, std::vector<Value>& values) {
  const bool is_vector = given.kind == Kind::vector;
  // ptxas takes {e} and {scale-a}, too.
  const bool in_braces = wanted.in_braces || (is_vector && mnemonic_of(in.opcode()) == "mma");
  if (is_vector && !in_braces) refuse(in, {Objection::Kind::no_name}, seat, given);
  const std::span<const syntax::Operand> registers = items_of(given);
  Seat each = seat;
  each.vector = registers;
  const std::vector<Value> own = group(in, given, *seat.type, each, static_cast<std::size_t>(wanted.registers()), in_braces);
  const std::vector<SeatedItem> items = seated(in, registers, own);
  if (is_vector) check(in, judge_vector(seat, items), seat, given);
  check(in, judge_numbers(wanted, items), seat, given);
  values.insert(values.end(), own.begin(), own.end());
}

/// The place that a matrix instruction reads or writes. A list has one memory, whatever space is named.
void matrix_place(Context& in, const syntax::Operand& given, const Form& form, const Seat& seat, Matrix& matrix,
                  std::vector<Value>& sources) {
  const Place where = place(in, given, seat);
  matrix.offset = where.offset;
  matrix.narrow_address = in.class_of(where.base) == RegisterClass::word;
  matrix.generic = in.list == nullptr && form.space == Space::generic && where.space != Space::shared;
  if (moves_matrix(form)) {
    matrix.space = in.list != nullptr ? Space::shared : matrix_space(form, where.space);
    matrix.runs = matrix_runs(form);
  }
  sources.push_back(where.base);
}

}  // namespace

const DataType& register_type(const Operand& operand) {
  const bool wide = operand.fragment.register_bits() == 64;
  const char* const type = operand.kind == OperandKind::ids        ? "b16"
                           : operand.kind != OperandKind::fragment ? "u32"
                           : wide                                  ? "f64"
                           : operand.format == Format::f32         ? "f32"
                                                                   : "b32";
  return *find_ptx_type(type);
}

/// ldmatrix, stmatrix, movmatrix, mma and wmma: the operands are the form's (forms.h), in its order.
void matrix(Context& in) {
  const auto [form, instruction] = matrix_instruction(in);
  Matrix matrix{.instruction = instruction, .operands = operand_words(*form), .runs = {}};
  DraftOperation operation{.operation = {.semantics = Semantics::matrix}};
  const std::size_t given_count = in.operands().size(), most = form->operands.size();
  const bool no_stride = form->operands.back().kind == OperandKind::stride && given_count + 1 == most;
  if (given_count != most && !no_stride) in.fail(fmt::format("{} takes {} operands", in.opcode(), most));
  for (std::size_t i = 0; i < given_count; ++i) {
    const Operand& wanted = form->operands[i];
    const syntax::Operand& given = in.operand(i);
    const Seat seat = matrix_seat(in, *form, wanted, instruction);
    // ptxas takes special registers in braces alone.
    if (given.kind == Kind::name && !in.names.find(given.text) && find_special_register(given.text))
      refuse(in, {Objection::Kind::no_name}, seat, given);
    switch (wanted.kind) {
      case OperandKind::address: matrix_place(in, given, instruction.form(), seat, matrix, operation.sources); break;
      case OperandKind::selector: operation.sources.push_back(matrix_selector(in, given, wanted, seat)); break;
      case OperandKind::stride: operation.sources.push_back(source(in, given, *seat.type, seat)); break;
      case OperandKind::ids:
        for (const Value value : group(in, given, *seat.type, seat, 2, true)) operation.sources.push_back(value);
        break;
      case OperandKind::fragment: fragment(in, given, wanted, seat, wanted.written ? operation.results : operation.sources); break;
    }
  }
  in.add(std::move(operation), std::move(matrix));
}

}  // namespace warpmat::code
