#include <warpmat/program.h>
#include <warpmat/text.h>

#include <algorithm>

#include <fmt/core.h>

namespace warpmat::inline v0_1 {
namespace {

std::string print_offset(std::int64_t offset) {
  if (offset == 0) return {};
  const auto magnitude = static_cast<std::uint64_t>(offset);
  return offset < 0 ? fmt::format("+-{}", ~magnitude + 1) : fmt::format("+{}", magnitude);
}

std::string print_item(const Program& program, const Item& item) {
  switch (item.kind) {
    case Item::Kind::named: return (item.inverted ? "!" : "") + program.registers[static_cast<std::size_t>(item.index)].name;
    case Item::Kind::number: return item.text;
    case Item::Kind::laneid: return "%laneid";
    case Item::Kind::discard: return "_";
    case Item::Kind::variable:
      return program.variables[static_cast<std::size_t>(item.index)].name + print_offset(static_cast<std::int64_t>(item.bits));
  }
  return {};
}

std::string print_operand(const Program& program, const OperandText& operand) {
  std::string items;
  const char* const between = operand.kind == OperandText::Kind::pair ? "|" : ", ";
  for (const Item& item : operand.items) items += (items.empty() ? "" : between) + print_item(program, item);
  switch (operand.kind) {
    case OperandText::Kind::single:
    case OperandText::Kind::pair: return items;
    case OperandText::Kind::vector: return "{" + items + "}";
    case OperandText::Kind::address: return "[" + items + print_offset(operand.offset) + "]";
    case OperandText::Kind::omitted: break;
  }
  return {};
}

}  // namespace

std::string print(const Program& program, const Statement& statement) {
  const std::string_view opcode = statement.matrix() != nullptr ? statement.matrix()->form().opcode : statement.scalar()->opcode;
  std::string operands;
  for (const OperandText& operand : statement.operands)
    if (operand.kind != OperandText::Kind::omitted) operands += (operands.empty() ? "" : ", ") + print_operand(program, operand);
  const std::string guard = statement.guard ? fmt::format("@{} ", print_item(program, *statement.guard)) : "";
  return fmt::format("{}{} {};", guard, opcode, operands);
}

std::string print(const Program& program) {
  // A program parsed for another target than its own may have a version that is too old for this one.
  std::string text =
      fmt::format(".version {}\n.target {}\n", to_string(std::max(program.version, program.target->since)), program.target->name);
  for (const NamedRegister& r : program.registers) text += fmt::format(".reg .{} {};\n", r.type->name, r.name);
  for (const SharedVariable& v : program.variables)
    text += fmt::format(".shared .align {} .{} {}{};\n", v.alignment, v.type->name, v.name,
                        v.extents.empty() ? "" : fmt::format("[{}]", joined(v.extents, "][")));
  for (const Statement& statement : program.statements)
    text += (statement.label.empty() ? "" : statement.label + ": ") + print(program, statement) + "\n";
  return text;
}

}  // namespace warpmat::inline v0_1
