#include <warpmat/program.h>

#include <algorithm>
#include <stdexcept>

#include <warpmat/text.h>

namespace warpmat {
const NamedRegister* Program::find_register(std::string_view name) const {
  const auto found = std::ranges::find(registers(), name, &NamedRegister::name);
  return found == registers().end() ? nullptr : &*found;
}

const SharedVariable* Program::find_variable(std::string_view name) const {
  const auto found = std::ranges::find(variables(), name, &SharedVariable::name);
  return found == variables().end() ? nullptr : &*found;
}

const InstructionOperand& Statement::described(std::size_t index) const {
  if (index >= parts_.operands.size())
    throw std::out_of_range(format_text("{} has no operand {}: it has {}", instruction().opcode(), index, parts_.operands.size()));
  const std::span<const InstructionOperand> operands = instruction().operands();
  auto found = operands.begin();
  for (std::size_t i = 0; i < index; ++i)
    while ((++found)->is_paired()) {
    }
  return *found;
}

std::vector<const Statement*> Program::matrix_statements() const {
  std::vector<const Statement*> found;
  for (const Statement& statement : statements())
    if (statement.matrix() != nullptr) found.push_back(&statement);
  return found;
}

}  // namespace warpmat
