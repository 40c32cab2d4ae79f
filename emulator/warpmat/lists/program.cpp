#include <warpmat/program.h>

#include <algorithm>

#include <fmt/core.h>

#include <warpmat/ptx/program/code.h>

namespace warpmat::inline v0_1 {
namespace {

int words_of(const DataType* type) {
  return type != nullptr && type->bits > 32 ? 2 : 1;
}

/// What is wrong with the slot of an item. A result is a named register or the one that discards.
const char* problem_of(const Program& program, const Item& item, bool written) {
  const int end = written ? program.first_constant() : program.words();
  if (item.words < 1 || item.words > 2 || item.slot < 0 || item.slot > end - item.words) return "an operand is outside of the registers";
  const bool named = item.kind == Item::Kind::named;
  const std::size_t count = named ? program.registers.size() : item.kind == Item::Kind::variable ? program.variables.size() : 0;
  const bool has_index = named || item.kind == Item::Kind::variable;
  if (has_index && (item.index < 0 || static_cast<std::size_t>(item.index) >= count)) return "an operand names nothing of the program";
  if (named && item.slot != program.registers[static_cast<std::size_t>(item.index)].slot) return "an operand is not where its register is";
  return nullptr;
}

int words_of(const OperandText& operand) {
  int words = 0;
  for (const Item& item : operand.items) words += item.words;
  return words;
}

bool has_words(const OperandText& given, const Operand& operand) {
  const int words = words_of(given);
  if (operand.kind == OperandKind::address) return words == 1 || words == 2;
  return words == operand.words() || (operand.kind == OperandKind::stride && words == 0);
}

const char* problem_of_operands(const Statement& statement, const Instruction& instruction) {
  const auto& operands = instruction.form().operands;
  if (statement.operands.size() != operands.size()) return "it has another number of operands than its instruction";
  return std::ranges::equal(statement.operands, operands, has_words) ? nullptr : "an operand has another number of registers";
}

const char* problem_of_operands(const Program& program, const Statement& statement, const ScalarInstruction& instruction) {
  const auto count = std::ranges::count(instruction.operands, false, &ScalarArgument::paired);
  const auto is_empty = [](const OperandText& given) { return given.items.empty(); };
  if (static_cast<std::ptrdiff_t>(statement.operands.size()) != count || std::ranges::any_of(statement.operands, is_empty))
    return "its operands are not those of its instruction";
  const std::int32_t first = statement.first_operation, last = statement.last_operation;
  if (program.code == nullptr || first < 0 || first > last || static_cast<std::size_t>(last) > program.code->operations.size())
    return "the program has no code for it";
  return nullptr;
}

const char* problem_of(const Program& program, const Statement& statement) {
  const Instruction* const instruction = statement.matrix();
  if (const char* const wrong = instruction != nullptr ? problem_of_operands(statement, *instruction)
                                                       : problem_of_operands(program, statement, *statement.scalar()))
    return wrong;
  for (std::size_t i = 0; i < statement.operands.size(); ++i)
    for (const Item& item : statement.operands[i].items)
      if (const char* const wrong = problem_of(program, item, instruction != nullptr && instruction->form().operands[i].written))
        return wrong;
  return statement.guard ? problem_of(program, *statement.guard, false) : nullptr;
}

}  // namespace

const NamedRegister* Program::find_register(std::string_view name) const {
  const auto found = std::ranges::find(registers, name, &NamedRegister::name);
  return found == registers.end() ? nullptr : &*found;
}

const SharedVariable* Program::find_variable(std::string_view name) const {
  const auto found = std::ranges::find(variables, name, &SharedVariable::name);
  return found == variables.end() ? nullptr : &*found;
}

std::optional<std::string> Program::problem() const {
  if (target == nullptr) return "the program has no target";
  for (const NamedRegister& r : registers)
    if (r.type == nullptr || r.slot < 0 || r.slot > named_words - words_of(r.type))
      return fmt::format("register '{}' is outside of the {} words of named registers", r.name, named_words);
  for (const SharedVariable& v : variables)
    if (v.type == nullptr || v.count < 0 || v.address < 0 || v.address > shared_bytes || v.bytes() > shared_bytes - v.address)
      return fmt::format("variable '{}' is outside of the {} bytes of shared memory", v.name, shared_bytes);
  for (const Statement& statement : statements)
    if (const char* const wrong = problem_of(*this, statement))
      return fmt::format("the statement at line {} is not as parse() made it: {}", statement.location.line, wrong);
  return std::nullopt;
}

std::vector<const Statement*> Program::matrix_statements() const {
  std::vector<const Statement*> found;
  for (const Statement& statement : statements)
    if (statement.matrix() != nullptr) found.push_back(&statement);
  return found;
}

}  // namespace warpmat::inline v0_1
