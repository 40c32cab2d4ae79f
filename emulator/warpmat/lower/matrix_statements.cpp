#include <fmt/core.h>

#include <warpmat/lower/list_statements.h>
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

/// Where the operand of a matrix instruction stands. In modules the type of the operation alone says which registers it takes.
Seat matrix_seat(const Context& in, const Form& form, const Operand& wanted, const Instruction& instruction) {
  const bool wide = wanted.fragment.register_bits() == 64;
  const char* const type = wanted.kind == OperandKind::ids        ? "b16"
                           : wanted.kind != OperandKind::fragment ? "u32"
                           : wide                                 ? "f64"
                           : wanted.format == Format::f32         ? "f32"
                                                                  : "b32";
  Seat seat = seat_of(in, *find_ptx_type(type), wanted.written, false);
  seat.role = "operand";
  seat.instruction = mnemonic_of(in.opcode());
  seat.name = wanted.name;
  if (in.list == nullptr) return seat;
  const bool integer = wanted.kind == OperandKind::stride || wanted.kind == OperandKind::selector;
  seat.accepts = integer ? accepts_integers : accepted_by(form, wanted);
  seat.may_discard = instruction.lowering().exceptions.discardable;
  return seat;
}

/// The number that selects a part of another operand's registers.
Value matrix_selector(Context& in, const syntax::Operand& given, const Operand& wanted, const Seat& seat) {
  const int largest = wanted.choices - 1;
  const bool is_number = given.kind == Kind::number && !given.negative && (in.list != nullptr || integer_of(given));
  if (!is_number) refuse(in, {.kind = Objection::Kind::selector, .number = largest}, seat, given);
  note_group(in, OperandText::Kind::single);
  if (in.list != nullptr) static_cast<void>(meaning(in, given, seat));
  const std::uint64_t value = *integer_of(given);
  if (value > static_cast<std::uint64_t>(largest)) refuse(in, {.kind = Objection::Kind::selector_range, .number = largest}, seat, given);
  return in.constant(RegisterClass::word, value);
}

/// Appends the words of an operand of a list's matrix instruction, of 64 bits the low one first.
void add_words(Context& in, Value value, std::vector<Value>& words) {
  if (in.class_of(value) == RegisterClass::word) return words.push_back(value);
  if (is_constant(value)) {
    const std::uint64_t bits = in.draft.constants[value].low;
    for (const std::uint64_t word : {bits & 0xffffffff, bits >> 32}) words.push_back(in.constant(RegisterClass::word, word));
  } else if (const auto found = in.kept_in_words.find(value); found != in.kept_in_words.end()) {
    words.insert(words.end(), {found->second.low, *found->second.high});
  } else {  // a result that _ discards
    for (int i = 0; i < 2; ++i) words.push_back(in.temporary(RegisterClass::word));
  }
}

/// The place that a matrix instruction reads or writes. A list has one memory, and the words of an address.
void matrix_place(Context& in, const syntax::Operand& given, const Form& form, const Seat& seat, Matrix& matrix,
                  std::vector<Value>& sources) {
  const Place where = place(in, given, seat);
  matrix.offset = where.offset;
  matrix.narrow_address = in.class_of(where.base) == RegisterClass::word;
  if (in.list != nullptr) return add_words(in, where.base, sources);
  matrix.generic = form.space == Space::generic && where.space != Space::shared;
  if (moves_matrix(form)) {
    matrix.space = matrix_space(form, where.space);
    matrix.runs = matrix_runs(form);
  }
  sources.push_back(where.base);
}

}  // namespace

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
    switch (wanted.kind) {
      case OperandKind::address: matrix_place(in, given, *form, seat, matrix, operation.sources); break;
      case OperandKind::selector: operation.sources.push_back(matrix_selector(in, given, wanted, seat)); break;
      case OperandKind::stride:
        note_group(in, OperandText::Kind::single);
        operation.sources.push_back(source(in, given, *seat.type, seat));
        break;
      case OperandKind::ids:
        for (const Value value : group(in, given, *seat.type, seat, 2, true)) operation.sources.push_back(value);
        break;
      case OperandKind::fragment: {
        // ptxas takes {e} and {scale-a}, too.
        const bool in_braces = in.list == nullptr ? wanted.registers() != 1
                                                  : wanted.in_braces || (form->mnemonic == Mnemonic::mma && given.kind == Kind::vector);
        std::vector<Value>& values = wanted.written ? operation.results : operation.sources;
        for (const Value value : group(in, given, *seat.type, seat, static_cast<std::size_t>(wanted.registers()), in_braces)) {
          if (in.list != nullptr)
            add_words(in, value, values);
          else
            values.push_back(value);
        }
        if (in.list != nullptr) check(in, judge_numbers(wanted, in.list->seated()), seat, given);
        break;
      }
    }
  }
  if (no_stride) note_group(in, OperandText::Kind::omitted);
  in.add(std::move(operation), std::move(matrix));
}

}  // namespace warpmat::code
