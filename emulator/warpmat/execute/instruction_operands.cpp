#include <warpmat/instruction.h>

#include <algorithm>
#include <memory>

#include <warpmat/execute/instruction_operands.h>
#include <warpmat/numeric/persistent.h>
#include <warpmat/tables/types.h>

namespace warpmat {
namespace {

using Role = InstructionOperand::Kind;

static_assert(static_cast<int>(Role::fragment) == static_cast<int>(OperandKind::fragment) &&
              static_cast<int>(Role::address) == static_cast<int>(OperandKind::address) &&
              static_cast<int>(Role::selector) == static_cast<int>(OperandKind::selector) &&
              static_cast<int>(Role::ids) == static_cast<int>(OperandKind::ids) &&
              static_cast<int>(Role::stride) == static_cast<int>(OperandKind::stride));

}  // namespace

std::string_view name(InstructionOperand::Kind kind) {
  static constexpr std::string_view names[] = {"fragment", "address",   "selector", "ids",    "stride",
                                               "value",    "predicate", "carry",    "number", "descriptor"};
  return names[static_cast<std::size_t>(kind)];
}

InstructionOperand::InstructionOperand(const Form& form, const Operand& operand)
    : name_(warpmat::name(operand.name)),
      matrix_name_(operand.name),
      registers_(operand.registers()),
      register_bits_(operand.kind == OperandKind::fragment ? operand.fragment.register_bits() : 32),
      choices_(operand.choices),
      kind_(static_cast<Role>(operand.kind)),
      accepts_(accepted_by(form, operand)),
      read_(!operand.written),
      written_(operand.written),
      optional_(operand.kind == OperandKind::stride) {}

namespace {

Role role_of(const DataType& type, const catalogue::OperandPattern& pattern) {
  if (type.is_predicate()) return Role::predicate;
  return pattern.role == catalogue::OperandPattern::Role::number ? Role::number : Role::value;
}

/// Bits of a register of that type.
int register_bits_of(const DataType& type) {
  return type.is_predicate() ? 1 : std::max(type.bits, 16);
}

}  // namespace

InstructionOperand InstructionOperands::scalar(const catalogue::Match& match, const catalogue::OperandPattern& pattern) {
  const DataType& type = match.type_of(pattern);
  InstructionOperand made = data(pattern.name, type, pattern.count == 0 ? match.vector() : pattern.count, pattern.result);
  made.kind_ = role_of(type, pattern);
  made.optional_ = pattern.optional;
  made.paired_ = pattern.paired;
  made.may_be_wider_ = pattern.may_be_wider;
  if (catalogue::takes_integers_alone(match, pattern)) made.accepts_ = accepts_integers;
  return made;
}

InstructionOperand InstructionOperands::data(std::string_view name, const DataType& type, int registers, bool written) {
  InstructionOperand made;
  made.name_ = name;
  made.kind_ = Role::value;
  made.type_ = &type;
  made.registers_ = registers;
  made.register_bits_ = register_bits_of(type);
  made.read_ = !written;
  made.written_ = written;
  made.accepts_ = accepted_by(type);
  made.may_be_wider_ = !type.is_floating();
  return made;
}

InstructionOperand InstructionOperands::address(std::string_view name) {
  InstructionOperand made;
  made.name_ = name;
  made.kind_ = Role::address;
  made.accepts_ = accepts_integers;
  made.may_be_wider_ = true;
  return made;
}

InstructionOperand InstructionOperands::carry(const DataType& type) {
  InstructionOperand made = data("cc", type, 1, false);
  made.kind_ = Role::carry;
  made.read_ = made.may_be_wider_ = false;
  made.accepts_ = {};
  return made;
}

void InstructionOperands::leave_out(InstructionOperand& operand) {
  operand.optional_ = true;
}

void InstructionOperands::use(InstructionOperand& operand, bool written) {
  (written ? operand.written_ : operand.read_) = true;
}

InstructionOperand InstructionOperands::of_wgmma(std::string_view name, Role kind, int registers, int register_bits, bool optional) {
  InstructionOperand made;
  made.name_ = name;
  made.kind_ = kind;
  made.registers_ = registers;
  made.register_bits_ = register_bits;
  made.optional_ = optional;
  if (kind == Role::descriptor) made.accepts_ = accepted_by(*find_untyped(register_bits));
  if (kind == Role::predicate) made.accepts_ = accepts_predicates;
  return made;
}

InstructionOperand InstructionOperands::of_tile(const Form& tile, OperandName name, int registers) {
  InstructionOperand made(tile, tile.operand(name));
  made.registers_ = registers;
  made.read_ = true;                        // d is added to
  made.optional_ = name == OperandName::a;  // or in memory
  return made;
}

std::span<const InstructionOperand> operands_of(const Form& form) {
  using Slot = Persistent<std::vector<InstructionOperand>>;
  static constinit Persistent<std::unique_ptr<Slot[]>> all;
  const auto& slots = all.get([] { return std::make_unique<Slot[]>(most_form_numbers()); });
  return slots[number_of(form)].get([&] {
    std::vector<InstructionOperand> made;
    for (const Operand& operand : form.operands) made.push_back({form, operand});
    return made;
  });
}

namespace {

WgmmaOperands made_operands(const WgmmaForm& form) {
  WgmmaOperands made;
  const auto add = [&](WgmmaOperand role, const InstructionOperand& operand) {
    made.roles.push_back(role);
    made.operands.push_back(operand);
  };
  const auto add_other = [&](WgmmaOperand role, std::string_view name, Role kind, int bits, bool optional) {
    add(role, InstructionOperands::of_wgmma(name, kind, 1, bits, optional));
  };
  add(WgmmaOperand::d, InstructionOperands::of_tile(*form.tile, OperandName::d, form.d_registers()));
  add(WgmmaOperand::a, InstructionOperands::of_tile(*form.tile, OperandName::a, form.a_registers()));
  add_other(WgmmaOperand::a_descriptor, "a-desc", Role::descriptor, 64, true);
  add_other(WgmmaOperand::b_descriptor, "b-desc", Role::descriptor, 64, false);
  if (form.sparse()) {
    add(WgmmaOperand::e, InstructionOperands::of_tile(*form.tile, OperandName::e, 1));
    add(WgmmaOperand::selector, InstructionOperand(*form.tile, form.tile->operand(OperandName::selector)));
  }
  add_other(WgmmaOperand::scale_d, "scale-d", Role::predicate, 1, false);
  if (form.negates()) {
    add_other(WgmmaOperand::scale_a, "imm-scale-a", Role::number, 32, true);
    add_other(WgmmaOperand::scale_b, "imm-scale-b", Role::number, 32, true);
  }
  if (form.transposes()) {
    add_other(WgmmaOperand::trans_a, "imm-trans-a", Role::number, 32, true);
    add_other(WgmmaOperand::trans_b, "imm-trans-b", Role::number, 32, true);
  }
  return made;
}

}  // namespace

const WgmmaOperands& operands_of(const WgmmaForm& form) {
  using Slot = Persistent<WgmmaOperands>;
  static constinit Persistent<std::unique_ptr<Slot[]>> all;
  const auto& slots = all.get([] { return std::make_unique<Slot[]>(wgmma_forms().size()); });
  return slots[static_cast<std::size_t>(&form - wgmma_forms().data())].get([&] { return made_operands(form); });
}

std::size_t fewest_operands(std::span<const InstructionOperand> operands) {
  std::size_t count = operands.size();
  while (count > 0 && operands[count - 1].is_optional()) --count;
  return count;
}

}  // namespace warpmat
