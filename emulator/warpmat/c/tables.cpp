// Lists, formats, finding and describing instructions, layouts.

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <type_traits>

#include <warpmat/c/entry.h>
#include <warpmat/c/fields.h>
#include <warpmat/c/instruction.h>
#include <warpmat/execute/scalar_form.h>
#include <warpmat/formats.h>
#include <warpmat/forms.h>
#include <warpmat/text.h>
#include <warpmat/wgmma.h>

using namespace warpmat;
using namespace warpmat::c;

namespace {

static_assert(static_cast<int>(OperandName::d) == WARPMAT_D && static_cast<int>(OperandName::a) == WARPMAT_A &&
              static_cast<int>(OperandName::b) == WARPMAT_B && static_cast<int>(OperandName::c) == WARPMAT_C &&
              static_cast<int>(OperandName::e) == WARPMAT_E && static_cast<int>(OperandName::selector) == WARPMAT_SELECTOR &&
              static_cast<int>(OperandName::scale_a) == WARPMAT_SCALE_A && static_cast<int>(OperandName::ids_a) == WARPMAT_IDS_A &&
              static_cast<int>(OperandName::scale_b) == WARPMAT_SCALE_B && static_cast<int>(OperandName::ids_b) == WARPMAT_IDS_B &&
              static_cast<int>(OperandName::r) == WARPMAT_R && static_cast<int>(OperandName::p) == WARPMAT_P &&
              static_cast<int>(OperandName::stride) == WARPMAT_STRIDE);
using Kind = InstructionOperand::Kind;
static_assert(static_cast<int>(Kind::fragment) == WARPMAT_FRAGMENT && static_cast<int>(Kind::address) == WARPMAT_ADDRESS &&
              static_cast<int>(Kind::selector) == WARPMAT_CHOICE && static_cast<int>(Kind::ids) == WARPMAT_IDS &&
              static_cast<int>(Kind::stride) == WARPMAT_DISTANCE && static_cast<int>(Kind::value) == WARPMAT_VALUE &&
              static_cast<int>(Kind::predicate) == WARPMAT_PREDICATE && static_cast<int>(Kind::carry) == WARPMAT_CARRY &&
              static_cast<int>(Kind::number) == WARPMAT_NUMBER && static_cast<int>(Kind::descriptor) == WARPMAT_DESCRIPTOR);

template <typename Rows>
auto row_at(const Rows& rows, int index) -> decltype(&rows[0]) {
  return index >= 0 && static_cast<std::size_t>(index) < rows.size() ? &rows[static_cast<std::size_t>(index)] : nullptr;
}

const Form* form_of(const warpmat_instruction* instruction) {
  return instruction != nullptr && instruction->is_matrix() ? &instruction->instruction.form() : nullptr;
}

/// A fragment, and how often it is repeated: along the warps that execute an instruction together, and along the columns of D.
struct Fragments {
  const Fragment* fragment = nullptr;  ///< nullptr: the operand is none
  int warps = 1, tiles = 1;

  int lanes() const { return warps * warp_size; }
  int registers() const { return tiles * fragment->registers(); }
  int rows() const { return warps * fragment->rows(); }
  int columns() const { return tiles * fragment->columns(); }
};

Fragments fragments_of(const Operand* operand, int warps, int tiles) {
  if (operand == nullptr || operand->kind != OperandKind::fragment) return {};
  return {&operand->fragment, warps, tiles};
}

Fragments fragments_of(const warpmat_instruction* instruction, int operand) {
  if (instruction == nullptr || operand < 0 || operand >= static_cast<int>(operand_name_count)) return {};
  const auto wanted = static_cast<OperandName>(operand);
  const Instruction& own = instruction->instruction;
  if (own.kind() == InstructionKind::matrix) return fragments_of(own.form().find_operand(wanted), 1, 1);
  const bool in_registers = wanted == OperandName::d || wanted == OperandName::a;
  if (own.kind() != InstructionKind::warpgroup || !in_registers) return {};
  return fragments_of(own.wgmma().tile->find_operand(wanted), own.warps(), wanted == OperandName::d ? own.wgmma().tiles() : 1);
}

/// ldmatrix and stmatrix: each row in memory has the address of a lane.
bool addresses_rows(const Form& form) {
  return form.mnemonic == Mnemonic::ldmatrix || form.mnemonic == Mnemonic::stmatrix;
}

bool below(int value, int limit) {
  return value >= 0 && value < limit;
}

bool inside(const Fragments& f, warpmat_element e) {
  return below(e.row, f.rows()) && below(e.column, f.columns()) && below(e.matrix, f.fragment->matrices());
}

/// Stack of warpmat_execute: the maximum over all forms and both paths, error messages included, plus a reserve. tests/c/stack_test.cpp
/// measures it. Only mma's reference keeps decoded matrices.
constexpr std::size_t move_stack = 32 << 10, mma_stack = 80 << 10;

/// Instructions of which other functions know: by an opcode, and by fields.
struct Elsewhere {
  std::string_view mnemonic;
  const char *executor, *function, *by_fields;
};
constexpr const char* bulk_accesses = "warpmat_bulk_accesses of c_program.h lists what it accesses";
constexpr Elsewhere elsewhere[] = {
    {"tcgen05", "a tensor core with tensor memory executes", "warpmat_tcgen05_create of c_program.h finds it",
     "warpmat_tcgen05_create_fields of c_program.h finds it"},
    {"cp.async.bulk", "a kernel executes", bulk_accesses, bulk_accesses},
    {"cp.reduce.async.bulk", "a kernel executes", bulk_accesses, bulk_accesses},
};

/// Whether find() finds an opcode that no form has.
bool is_other_instruction(std::string_view opcode) {
  if (find_wgmma(opcode) != nullptr) return true;
  const std::optional<catalogue::Match> match = catalogue::find_row(opcode);
  return match && instruction_kind(*match);
}

/// Why warpmat_find finds nothing, and what does.
std::string explain_opcode(std::string_view opcode, const Target& target) {
  for (const Elsewhere& other : elsewhere)
    if (opcode.starts_with(std::string(other.mnemonic) + ".")) return format_text("{} '{}': {}", other.executor, opcode, other.function);
  if (find_sass(opcode, target) != nullptr || find_wgmma_sass(opcode) != nullptr)
    return format_text("'{}' is a name of SASS: warpmat_find_machine finds it", opcode);
  const bool in_programs = catalogue::find_row(opcode).has_value();
  return explain_unknown_instruction(opcode) + (in_programs ? "; warpmat_module_parse of c_program.h takes those" : "");
}

/// Names of SASS that no table has, by their beginnings, and what finds or lists those instructions.
struct MachineElsewhere {
  std::string_view beginning;
  const char *family, *function;
};
constexpr const char* by_opcode = "warpmat_tcgen05_create of c_program.h finds it by PTX's opcode";
constexpr MachineElsewhere machine_elsewhere[] = {
    {"UTC", "tcgen05", by_opcode},
    {"LDTM", "tcgen05", by_opcode},
    {"STTM", "tcgen05", by_opcode},
    {"UTMA", "cp.async.bulk", bulk_accesses},
    {"UBLKCP", "cp.async.bulk", bulk_accesses},
};

/// The same of warpmat_find_machine.
std::string explain_machine_name(std::string_view name, const Target& target) {
  for (const MachineElsewhere& other : machine_elsewhere)
    if (name.starts_with(other.beginning)) return format_text("'{}' is of {}: {}", name, other.family, other.function);
  if (find_form(name) != nullptr || is_other_instruction(name)) return format_text("'{}' is PTX: warpmat_find finds it", name);
  return explain_unknown_sass(name, target);
}

/// Finds an instruction: `find` returns the form or throws.
template <typename Find>
const warpmat_instruction* found_by(const char* text, const char* target_name, warpmat_error* error, Find find) {
  if (text == nullptr || target_name == nullptr) {
    report(error, WARPMAT_BAD_ARGUMENT, "the instruction's and the target's name must not be null");
    return nullptr;
  }
  try {
    const Target* target = find_target_or_card(target_name);
    if (target == nullptr) {
      report(error, WARPMAT_UNKNOWN_TARGET, format_text("unknown target '{}'; warpmat_target_name lists them", target_name));
      return nullptr;
    }
    const Form* form = find(*target);
    if (form == nullptr) return nullptr;
    if (const auto reason = unavailable(*form, *target)) {
      report(error, WARPMAT_UNAVAILABLE, *reason);
      return nullptr;
    }
    return &persistent_instruction(*form, *target);
  } catch (...) {
    report_exception(error);
    return nullptr;
  }
}

}  // namespace

const char* warpmat_version(void) {
  return WARPMAT_VERSION;
}
int warpmat_abi(void) {
  return WARPMAT_ABI;
}

const char* warpmat_status_name(warpmat_status status) {
  if (!is_enumerator(status, WARPMAT_OK, WARPMAT_MISPAIRED)) return "unknown status";
  switch (status) {
    case WARPMAT_OK: return "WARPMAT_OK";
    case WARPMAT_BAD_ARGUMENT: return "WARPMAT_BAD_ARGUMENT";
    case WARPMAT_UNKNOWN_OPCODE: return "WARPMAT_UNKNOWN_OPCODE";
    case WARPMAT_UNKNOWN_TARGET: return "WARPMAT_UNKNOWN_TARGET";
    case WARPMAT_UNAVAILABLE: return "WARPMAT_UNAVAILABLE";
    case WARPMAT_SYNTAX: return "WARPMAT_SYNTAX";
    case WARPMAT_UNDEFINED: return "WARPMAT_UNDEFINED";
    case WARPMAT_MISALIGNED: return "WARPMAT_MISALIGNED";
    case WARPMAT_OUT_OF_RANGE: return "WARPMAT_OUT_OF_RANGE";
    case WARPMAT_REFUSED: return "WARPMAT_REFUSED";
    case WARPMAT_NO_MEMORY: return "WARPMAT_NO_MEMORY";
    case WARPMAT_INTERNAL: return "WARPMAT_INTERNAL";
    case WARPMAT_MISUSE: return "WARPMAT_MISUSE";
    case WARPMAT_UNWRITTEN: return "WARPMAT_UNWRITTEN";
    case WARPMAT_UNORDERED: return "WARPMAT_UNORDERED";
    case WARPMAT_DEADLOCK: return "WARPMAT_DEADLOCK";
    case WARPMAT_LIMIT: return "WARPMAT_LIMIT";
    case WARPMAT_STOPPED: return "WARPMAT_STOPPED";
    case WARPMAT_MISPAIRED: return "WARPMAT_MISPAIRED";
  }
  return "unknown status";
}

// ---- Tables. Names of targets and formats are literals, so they are null-terminated.

int warpmat_target_count(void) {
  return static_cast<int>(targets().size());
}
const char* warpmat_target_name(int target) {
  const Target* found = row_at(targets(), target);
  return found == nullptr ? nullptr : found->name.data();
}

// The first use builds the table of forms, which may allocate memory.
int warpmat_form_count(void) {
  try {
    return static_cast<int>(forms().size());
  } catch (...) {
    return 0;
  }
}
const char* warpmat_form_opcode(int form) {
  try {
    const Form* found = row_at(forms(), form);
    return found == nullptr ? nullptr : found->opcode.c_str();
  } catch (...) {
    return nullptr;
  }
}

int warpmat_format_count(void) {
  return static_cast<int>(format_rows().size());
}
const char* warpmat_format_name(int format) {
  const FormatRow* found = row_at(format_rows(), format);
  return found == nullptr ? nullptr : found->name.data();
}
int warpmat_format_bits(int format) {
  const FormatRow* found = row_at(format_rows(), format);
  return found == nullptr ? 0 : found->bits;
}
int warpmat_find_format(const char* name) {
  const FormatRow* found = name == nullptr ? nullptr : find_format(name);
  return found == nullptr ? -1 : static_cast<int>(found->format);
}

warpmat_status warpmat_to_double(int format, uint64_t bits, double* value) {
  const FormatRow* found = row_at(format_rows(), format);
  if (found == nullptr || value == nullptr) return WARPMAT_BAD_ARGUMENT;
  *value = to_double(found->format, bits);
  return WARPMAT_OK;
}

warpmat_status warpmat_from_double(int format, double value, uint64_t* bits) {
  const FormatRow* found = row_at(format_rows(), format);
  if (found == nullptr || bits == nullptr) return WARPMAT_BAD_ARGUMENT;
  *bits = from_double(found->format, value);
  return WARPMAT_OK;
}

// ---- Instructions

namespace {

/// The handle of an instruction of another kind than matrix, which `make` makes; nullptr, having reported why, if the target lacks it.
template <typename Make>
const warpmat_instruction* made_by(warpmat_error* error, Make make) {
  try {
    return &persistent_instruction(make());
  } catch (const std::invalid_argument& wrong) {  // the opcode is known
    report(error, WARPMAT_UNAVAILABLE, wrong.what());
    return nullptr;
  }
}

/// found_by() of an instruction of any kind: `find` returns the form, or nullptr, having either reported why or set the handle.
template <typename Find>
const warpmat_instruction* any_found_by(const char* text, const char* target, warpmat_error* error, Find find) {
  const warpmat_instruction* other = nullptr;
  const warpmat_instruction* const found = found_by(text, target, error, [&](const Target& on) { return find(on, other); });
  return found == nullptr ? other : found;
}

}  // namespace

const warpmat_instruction* warpmat_find(const char* opcode, const char* target, warpmat_error* error) {
  return any_found_by(opcode, target, error, [&](const Target& on, const warpmat_instruction*& other) -> const Form* {
    if (const Form* const form = find_form(opcode)) return form;
    if (is_other_instruction(opcode))
      other = made_by(error, [&] { return warpmat::find(opcode, on.name); });
    else
      report(error, WARPMAT_UNKNOWN_OPCODE, explain_opcode(opcode, on));
    return nullptr;
  });
}

const warpmat_instruction* warpmat_find_machine(const char* name, const char* target, warpmat_error* error) {
  return any_found_by(name, target, error, [&](const Target& on, const warpmat_instruction*& other) -> const Form* {
    if (const Form* const form = find_sass(name, on)) return form;
    if (const WgmmaForm* const form = find_wgmma_sass(name))
      other = made_by(error, [&] { return Instruction(*form, on); });
    else
      report(error, WARPMAT_UNKNOWN_OPCODE, explain_machine_name(name, on));
    return nullptr;
  });
}

warpmat_status warpmat_find_machine_step(const char* name, const char* layout_a, const char* layout_b, const char* target,
                                         warpmat_machine_step* step, warpmat_error* error) {
  if (layout_a == nullptr || layout_b == nullptr) return report(error, WARPMAT_BAD_ARGUMENT, "a layout is null");
  if (step == nullptr || !WARPMAT_HAS_SIZE(step, registers))
    return report(error, WARPMAT_BAD_ARGUMENT, "step->size is not that of a warpmat_machine_step");
  std::optional<SassStep> found;
  warpmat_error failed{};
  failed.size = sizeof failed;
  const warpmat_instruction* const instruction = found_by(name, target, &failed, [&](const Target& on) -> const Form* {
    found = find_sass_step(name, layout_a, layout_b, on);
    if (found) return found->form;
    report(&failed, WARPMAT_UNKNOWN_OPCODE,
           format_text("no step of mma.m8n8k4 on {} is '{}' with the layouts '{}' and '{}': there are HMMA.884.F32.F32.STEP0 to STEP3 and "
                       "HMMA.884.F16.F16.STEP0 and STEP1 on sm_70, with 'row' and 'col'",
                       on.name, name, layout_a, layout_b));
    return nullptr;
  });
  if (instruction == nullptr) return report(error, failed);
  copy_out<warpmat_machine_step>({0, instruction, found->step, found->steps, found->first_register(), SassStep::registers}, step);
  return WARPMAT_OK;
}

const warpmat_instruction* warpmat_find_fields(const warpmat_fields* fields, const char* target, warpmat_error* error) {
  return any_found_by("", target, error, [&](const Target& on, const warpmat_instruction*& other) -> const Form* {
    const std::optional<OpcodeFields> wanted = read_fields(fields, error);
    if (!wanted) return nullptr;
    for (const Elsewhere& elsewhere_one : elsewhere)
      if (wanted->mnemonic.starts_with(elsewhere_one.mnemonic)) {
        report(error, WARPMAT_UNKNOWN_OPCODE,
               format_text("{} '{}': {}", elsewhere_one.executor, wanted->mnemonic, elsewhere_one.by_fields));
        return nullptr;
      }
    const bool is_wgmma = wanted->mnemonic.starts_with("wgmma");
    const std::optional<std::size_t> found = find_one(is_wgmma ? wgmma_fields() : form_fields(), *wanted, on, error);
    if (!found) return nullptr;
    if (!is_wgmma) return &forms()[*found];
    other = made_by(error, [&] { return Instruction(wgmma_forms()[*found], on); });
    return nullptr;
  });
}

namespace {

/// What a matrix instruction's form says.
void describe(const Form& form, const Lowering& lowering, warpmat_instruction_info& out) {
  const bool memory = addresses_rows(form);
  out.m = form.shape.m;
  out.n = form.shape.n;
  out.k = form.shape.k;
  out.rows = memory ? form.rows_in_memory() : 0;
  out.row_bytes = memory ? Form::row_bytes : 0;
  out.checked_lanes = memory && lowering.exceptions.checks_all_addresses ? warp_size : out.rows;
  out.reads_memory = form.mnemonic == Mnemonic::ldmatrix || form.mnemonic == Mnemonic::wmma_load;
  out.writes_memory = form.mnemonic == Mnemonic::stmatrix || form.mnemonic == Mnemonic::wmma_store;
  out.stack_bytes = multiplies(form.mnemonic) ? mma_stack : move_stack;
  out.alignment = moves_matrix(form) ? form.memory_alignment() : out.row_bytes;
  out.default_stride = moves_matrix(form) ? form.leading_dimension() : 0;
}

}  // namespace

warpmat_status warpmat_describe(const warpmat_instruction* instruction, warpmat_instruction_info* info) {
  if (instruction == nullptr || info == nullptr || !WARPMAT_HAS_SIZE(info, stack_bytes)) return WARPMAT_BAD_ARGUMENT;
  const Instruction& own = instruction->instruction;
  warpmat_instruction_info out{};
  out.opcode = instruction->opcode.c_str();
  out.target = instruction->target.c_str();
  out.machine = instruction->machine.c_str();
  out.sass = instruction->sass ? instruction->sass->c_str() : nullptr;
  out.evidence = instruction->evidence.c_str();
  out.source = instruction->source.c_str();
  out.operands = static_cast<int>(instruction->operands.size());
  out.layout_evidence = instruction->layout_evidence.c_str();
  out.layout_source = instruction->layout_source.c_str();
  out.mnemonic = instruction->fields.mnemonic.c_str();
  out.type = instruction->fields.type.c_str();
  out.layout_a = instruction->fields.layout_a.c_str();
  out.layout_b = instruction->fields.layout_b.c_str();
  out.space = instruction->fields.space.c_str();
  out.warps = own.warps();
  out.scalar = own.kind() == InstructionKind::scalar;
  out.needs_program = needs_program(own.kind());
  out.reads_memory = own.kind() == InstructionKind::load;
  out.writes_memory = own.kind() == InstructionKind::store;
  out.alignment = own.access_bytes();
  out.stack_bytes = move_stack;
  if (instruction->is_matrix()) describe(own.form(), own.lowering(), out);
  if (own.kind() == InstructionKind::warpgroup) {
    out.m = own.wgmma().shape.m;
    out.n = own.wgmma().shape.n;
    out.k = own.wgmma().shape.k;
    out.reads_memory = 1;
    out.alignment = 16;
    out.stack_bytes = mma_stack;
  }
  copy_out(out, info);
  return WARPMAT_OK;
}

warpmat_status warpmat_operand_at(const warpmat_instruction* instruction, int index, warpmat_operand_info* info) {
  if (instruction == nullptr || info == nullptr || !WARPMAT_HAS_SIZE(info, choices)) return WARPMAT_BAD_ARGUMENT;
  if (!below(index, static_cast<int>(instruction->operands.size()))) return WARPMAT_BAD_ARGUMENT;
  const auto number = static_cast<std::size_t>(index);
  const Instruction& own = instruction->instruction;
  const InstructionOperand& operand = own.operands()[number];
  const Fragments found = fragments_of(instruction, operand_id(own, number));
  warpmat_operand_info out{};
  out.operand = operand_id(own, number);
  out.kind = static_cast<warpmat_operand_kind>(operand.kind());
  out.name = operand.name().data();
  if (operand.matrix_name()) {
    const Form& form = instruction->is_matrix() ? own.form() : *own.wgmma().tile;
    const std::optional<Format> format = form.operand(*operand.matrix_name()).format;
    out.format = format ? name(*format).data() : nullptr;
  }
  out.written = operand.is_written();
  out.read = operand.is_read();
  out.optional = operand.is_optional();
  out.type = operand.type() == nullptr ? nullptr : operand.type()->name.data();
  out.registers = operand.registers();
  out.register_bits = operand.register_bits();
  out.words = operand.words();
  out.rows = found.fragment == nullptr ? 0 : found.rows();
  out.columns = found.fragment == nullptr ? 0 : found.columns();
  out.matrices = found.fragment == nullptr ? 0 : found.fragment->matrices();
  out.element_bits = found.fragment == nullptr ? 0 : found.fragment->element_bits();
  out.choices = operand.choices();
  copy_out(out, info);
  return WARPMAT_OK;
}

// ---- Layouts

warpmat_status warpmat_element_at(const warpmat_instruction* instruction, warpmat_operand operand, warpmat_place place,
                                  warpmat_element* element) {
  const Fragments found = fragments_of(instruction, number_of(operand));
  const Fragment* const fragment = found.fragment;
  if (fragment == nullptr || element == nullptr || !below(place.lane, found.lanes()) || !below(place.reg, found.registers()) ||
      !below(place.bit, fragment->register_bits()))
    return WARPMAT_BAD_ARGUMENT;
  const Element inside_one = fragment->element({place.lane % warp_size, place.reg % fragment->registers(), place.bit});
  *element = {place.lane / warp_size * fragment->rows() + inside_one.row,
              place.reg / fragment->registers() * fragment->columns() + inside_one.column, inside_one.matrix};
  return WARPMAT_OK;
}

warpmat_status warpmat_place_of(const warpmat_instruction* instruction, warpmat_operand operand, warpmat_element element,
                                warpmat_place* place) {
  const Fragments found = fragments_of(instruction, number_of(operand));
  const Fragment* const fragment = found.fragment;
  if (fragment == nullptr || place == nullptr || !inside(found, element)) return WARPMAT_BAD_ARGUMENT;
  const Place inside_one = fragment->place({element.row % fragment->rows(), element.column % fragment->columns(), element.matrix});
  *place = {element.row / fragment->rows() * warp_size + inside_one.lane,
            element.column / fragment->columns() * fragment->registers() + inside_one.reg, inside_one.bit};
  return WARPMAT_OK;
}

warpmat_status warpmat_memory_place_of(const warpmat_instruction* instruction, warpmat_element element, warpmat_place* place) {
  const Form* const form = form_of(instruction);
  if (form == nullptr || place == nullptr || !addresses_rows(*form) || !inside(fragments_of(instruction, WARPMAT_R), element))
    return WARPMAT_BAD_ARGUMENT;
  const RowPlace found = form->row_place({element.row, element.column, element.matrix});
  *place = {found.lane, 0, found.bit};
  return WARPMAT_OK;
}
