#include <warpmat/program.h>
#include <warpmat/text.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <vector>

#include <fmt/core.h>

#include <warpmat/words/words.h>

namespace warpmat {
namespace {

std::string_view mnemonic(const Statement& statement) {
  return name(statement.matrix()->form().mnemonic);
}

/// "0 (ldmatrix.0), 1 (ldmatrix.1), 2 (mma.0)"
std::string all_statements(const Program& program) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < program.matrix_statements().size(); ++i)
    names.push_back(fmt::format("{} ({})", i, statement_name(program, i)));
  return names.empty() ? "none" : joined(names, ", ");
}

/// "d, a, b, c"
std::string operands_text(const Statement& statement) {
  std::vector<std::string_view> names;
  for (const Operand& operand : statement.matrix()->form().operands) names.push_back(name(operand.name));
  return joined(names, ", ");
}

}  // namespace

std::size_t find_statement(const Program& program, std::string_view name) {
  const auto statements = program.matrix_statements();
  const auto called = std::ranges::find_if(statements, [&](const Statement* s) { return !name.empty() && s->label() == name; });
  if (called != statements.end()) return static_cast<std::size_t>(called - statements.begin());
  const std::size_t dot = name.rfind('.');
  const bool counted = dot == std::string_view::npos;  // by its number among all, or among those of its mnemonic
  if (const auto number = number_of<std::size_t>(name.substr(counted ? 0 : dot + 1))) {
    std::size_t left = *number;
    for (std::size_t i = 0; i < statements.size(); ++i)
      if ((counted || mnemonic(*statements[i]) == name.substr(0, dot)) && left-- == 0) return i;
  }
  throw std::invalid_argument(
      fmt::format("the program has no matrix instruction '{}'; its matrix instructions are {}", name, all_statements(program)));
}

OperandPlace find_operand_place(const Program& program, std::string_view name) {
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos)
    throw std::invalid_argument(
        fmt::format("'{}' is no operand: one is written 0.a or mma.0.a, a matrix instruction and the operand's name; the program's are {}",
                    name, all_statements(program)));
  const auto operand = find_operand_name(name.substr(dot + 1));
  const std::size_t statement = find_statement(program, name.substr(0, dot));
  if (!operand)
    throw std::invalid_argument(fmt::format("{} has no operand '{}'; it has {}", name.substr(0, dot), name.substr(dot + 1),
                                            operands_text(*program.matrix_statements()[statement])));
  return {statement, *operand};
}

std::string statement_name(const Program& program, std::size_t statement) {
  const auto statements = program.matrix_statements();
  if (const std::string& label = statements.at(statement)->label(); !label.empty()) return label;
  std::size_t number = 0;
  for (std::size_t i = 0; i < statement; ++i) number += mnemonic(*statements[i]) == mnemonic(*statements.at(statement));
  return fmt::format("{}.{}", mnemonic(*statements[statement]), number);
}

std::string statements_with(const Program& program, OperandName operand) {
  const auto statements = program.matrix_statements();
  std::vector<std::string> names;
  for (std::size_t i = 0; i < statements.size(); ++i) {
    const Operand* const found = statements[i]->matrix()->form().find_operand(operand);
    if (found != nullptr && found->kind == OperandKind::fragment) names.push_back(fmt::format("{} ({})", i, statement_name(program, i)));
  }
  if (names.empty()) return "no matrix instruction of the program has it";
  return fmt::format("{} {} it", joined(names, ", "), names.size() == 1 ? "has" : "have");
}

}  // namespace warpmat
