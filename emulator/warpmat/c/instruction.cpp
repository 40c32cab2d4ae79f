#include <warpmat/c/instruction.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string_view>

#include <warpmat/execute/instruction_operands.h>
#include <warpmat/forms.h>
#include <warpmat/numeric/persistent.h>
#include <warpmat/wgmma.h>

namespace {

std::vector<warpmat::c::CallOperand> call_operands(const warpmat::Instruction& instruction) {
  std::vector<warpmat::c::CallOperand> all;
  for (const warpmat::InstructionOperand& operand : instruction.operands())
    all.push_back({operand.kind(), static_cast<std::uint8_t>(operand.words()), operand.is_written(), operand.is_optional()});
  return all;
}

}  // namespace

warpmat_instruction::warpmat_instruction(const warpmat::Form& form, const warpmat::Target& target_)
    : instruction(form, target_),
      operands(call_operands(instruction)),
      fewest_operands(warpmat::fewest_operands(instruction.operands())),
      addresses_memory(instruction.form().find_operand(warpmat::OperandName::p) != nullptr),
      loads(instruction.form().mnemonic == warpmat::Mnemonic::ldmatrix || instruction.form().mnemonic == warpmat::Mnemonic::wmma_load),
      sass(sass_name(instruction.form(), instruction.lowering())),
      machine(sass ? *sass : machine_name(instruction.form(), instruction.lowering())),
      evidence(name(label_of(instruction.lowering()))),
      source(instruction.lowering().source),
      layout_evidence(name(layout_label(instruction.form(), instruction.target().hardware).label)),
      layout_source(layout_label(instruction.form(), instruction.target().hardware).source),
      target(instruction.target().name),
      opcode(instruction.form().opcode),
      fields(fields_of(instruction.form())) {}

namespace {

bool is_warpgroup(const warpmat::Instruction& instruction) {
  return instruction.kind() == warpmat::InstructionKind::warpgroup;
}

/// The mnemonic alone, but of wgmma.
warpmat::OpcodeFields fields_of_other(const warpmat::Instruction& instruction) {
  if (is_warpgroup(instruction)) return fields_of(instruction.wgmma());
  const std::string_view opcode = instruction.opcode();
  return {.mnemonic = std::string(opcode.substr(0, opcode.find('.')))};
}

}  // namespace

warpmat_instruction::warpmat_instruction(const warpmat::Instruction& other)
    : instruction(other),
      operands(call_operands(other)),
      fewest_operands(warpmat::fewest_operands(other.operands())),
      addresses_memory(is_warpgroup(other)),
      loads(false),
      sass(is_warpgroup(other) ? std::optional(sass_name(other.wgmma())) : std::nullopt),
      machine(sass.value_or("")),
      evidence(name(other.label())),
      source(other.source()),
      layout_evidence(is_warpgroup(other) ? name(other.label()) : std::string_view()),
      layout_source(is_warpgroup(other) ? other.source() : std::string_view()),
      target(other.target().name),
      opcode(other.opcode()),
      fields(fields_of_other(other)) {}

namespace warpmat::c {

warpmat_operand operand_id(const Instruction& instruction, std::size_t index) {
  const InstructionOperand& operand = instruction.operands()[index];
  if (operand.matrix_name()) return static_cast<warpmat_operand>(*operand.matrix_name());
  if (instruction.kind() != InstructionKind::warpgroup) return WARPMAT_NAMED;
  switch (operands_of(instruction.wgmma()).roles[index]) {
    case WgmmaOperand::a_descriptor: return WARPMAT_A_DESCRIPTOR;
    case WgmmaOperand::b_descriptor: return WARPMAT_B_DESCRIPTOR;
    case WgmmaOperand::scale_d: return WARPMAT_SCALE_D;
    case WgmmaOperand::scale_a: return WARPMAT_IMM_SCALE_A;
    case WgmmaOperand::scale_b: return WARPMAT_IMM_SCALE_B;
    case WgmmaOperand::trans_a: return WARPMAT_IMM_TRANS_A;
    case WgmmaOperand::trans_b: return WARPMAT_IMM_TRANS_B;
    case WgmmaOperand::d:
    case WgmmaOperand::a:
    case WgmmaOperand::e:
    case WgmmaOperand::selector: break;  // these have a matrix_name()
  }
  return WARPMAT_NAMED;
}

namespace {

using Slot = Persistent<warpmat_instruction>;

/// The slot for a form and a target of the tables.
Slot& slot(const Form& form, const Target& target) {
  static constinit Persistent<std::unique_ptr<Slot[]>> all;
  const auto& slots = all.get([] { return std::make_unique<Slot[]>(most_form_numbers() * targets().size()); });
  const auto target_number = static_cast<std::size_t>(&target - targets().data());
  return slots[number_of(form) * targets().size() + target_number];
}

}  // namespace

const warpmat_instruction& persistent_instruction(const Form& form, const Target& target) {
  return slot(form, target).get([&] { return warpmat_instruction(form, target); });
}

namespace {

/// The handles of a wgmma's row or of the spelling of a row of the catalogue, by their names, which exist once.
const warpmat_instruction& persistent_other(const Instruction& instruction) {
  using Handles = PersistentMap<std::string_view, warpmat_instruction>;  // key: the opcode in its table, of one bucket and target
  constexpr std::size_t buckets = 256;
  static constinit Persistent<std::unique_ptr<Handles[]>> all;
  const auto& handles = all.get([] { return std::make_unique<Handles[]>(buckets * targets().size()); });
  const auto target_number = static_cast<std::size_t>(&instruction.target() - targets().data());
  const std::size_t bucket = std::hash<std::string_view>()(instruction.opcode()) % buckets;
  return handles[target_number * buckets + bucket].get(instruction.opcode(), [&] { return warpmat_instruction(instruction); });
}

}  // namespace

const warpmat_instruction& persistent_instruction(const Instruction& instruction) {
  if (instruction.kind() != InstructionKind::matrix) return persistent_other(instruction);
  return persistent_instruction(instruction.form(), instruction.target());
}

}  // namespace warpmat::c
