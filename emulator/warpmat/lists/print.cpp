#include <warpmat/program.h>
#include <warpmat/text.h>

#include <algorithm>

#include <fmt/core.h>

namespace warpmat {
namespace {

std::string print_offset(std::int64_t offset) {
  if (offset == 0) return {};
  const auto magnitude = static_cast<std::uint64_t>(offset);
  return offset < 0 ? fmt::format("+-{}", ~magnitude + 1) : fmt::format("+{}", magnitude);
}

/// Spells operands of a program. Variables have their names, or are places in the array `memory` if that is not empty.
class Printer {
 public:
  Printer(const Program& program, std::string_view memory) : program_(program), memory_(memory) {}

  std::string item(const Item& item) const {
    switch (item.kind) {
      case Item::Kind::named: return (item.inverted ? "!" : "") + program_.registers()[static_cast<std::size_t>(item.index)].name;
      case Item::Kind::number: return item.text;
      case Item::Kind::laneid: return "%laneid";
      case Item::Kind::discard: return "_";
      case Item::Kind::variable: return variable(program_.variables()[static_cast<std::size_t>(item.index)], item.bits);
    }
    return {};
  }

  std::string operand(const OperandText& operand) const {
    std::string items;
    const char* const between = operand.kind == OperandText::Kind::pair ? "|" : ", ";
    for (const Item& one : operand.items) items += (items.empty() ? "" : between) + item(one);
    switch (operand.kind) {
      case OperandText::Kind::single:
      case OperandText::Kind::pair: return items;
      case OperandText::Kind::vector: return "{" + items + "}";
      case OperandText::Kind::address: return "[" + items + print_offset(operand.offset) + "]";
      case OperandText::Kind::omitted: break;
    }
    return {};
  }

 private:
  std::string variable(const SharedVariable& variable, std::uint64_t offset) const {
    if (memory_.empty()) return variable.name + print_offset(static_cast<std::int64_t>(offset));
    return std::string(memory_) + print_offset(static_cast<std::int64_t>(offset + static_cast<std::uint64_t>(variable.address)));
  }

  const Program& program_;
  std::string_view memory_;
};

}  // namespace

std::string print(const Program& program, const Statement& statement, std::string_view memory) {
  const Printer printer(program, memory);
  const std::string_view opcode = statement.instruction().opcode();
  std::string operands;
  for (const OperandText& operand : statement.operands())
    if (operand.kind != OperandText::Kind::omitted) operands += (operands.empty() ? "" : ", ") + printer.operand(operand);
  const std::string guard = statement.guard() ? fmt::format("@{} ", printer.item(*statement.guard())) : "";
  return fmt::format("{}{} {};", guard, opcode, operands);
}

std::string print_declarations(const Program& program) {
  // A program parsed for another target than its own may have a version that is too old for this one.
  std::string text =
      fmt::format(".version {}\n.target {}\n", to_string(std::max(program.version(), program.target()->since)), program.target()->name);
  for (const NamedRegister& r : program.registers()) text += fmt::format(".reg .{} {};\n", r.type->name, r.name);
  for (const SharedVariable& v : program.variables())
    text += fmt::format(".shared .align {} .{} {}{};\n", v.alignment, v.type->name, v.name,
                        v.extents.empty() ? "" : fmt::format("[{}]", joined(v.extents, "][")));
  return text;
}

std::string print(const Program& program) {
  std::string text = print_declarations(program);
  for (const Statement& statement : program.statements())
    text += (statement.label().empty() ? "" : statement.label() + ": ") + print(program, statement) + "\n";
  return text;
}

}  // namespace warpmat
