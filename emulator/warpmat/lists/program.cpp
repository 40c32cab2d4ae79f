#include <warpmat/program.h>

#include <algorithm>

namespace warpmat::inline v0_1 {
const NamedRegister* Program::find_register(std::string_view name) const {
  const auto found = std::ranges::find(registers(), name, &NamedRegister::name);
  return found == registers().end() ? nullptr : &*found;
}

const SharedVariable* Program::find_variable(std::string_view name) const {
  const auto found = std::ranges::find(variables(), name, &SharedVariable::name);
  return found == variables().end() ? nullptr : &*found;
}

std::vector<const Statement*> Program::matrix_statements() const {
  std::vector<const Statement*> found;
  for (const Statement& statement : statements())
    if (statement.matrix() != nullptr) found.push_back(&statement);
  return found;
}

}  // namespace warpmat::inline v0_1
