#include <warpmat/lower/resolve_list.h>

#include <algorithm>
#include <memory>
#include <utility>

#include <warpmat/lower/context.h>
#include <warpmat/lower/control_flow.h>
#include <warpmat/lower/emit.h>
#include <warpmat/lower/list_draft.h>
#include <warpmat/lower/list_slots.h>

namespace warpmat::code {
namespace {

/// Which operand of a statement is the address that it loads from; -1 if it loads nothing.
int read_address(const Statement& statement) {
  const Instruction* const matrix = statement.matrix();
  const bool reads =
      matrix != nullptr ? matrix->form().mnemonic == Mnemonic::ldmatrix : statement.instruction().kind() == InstructionKind::load;
  if (!reads) return -1;
  const auto operands = statement.instruction().operands();
  return static_cast<int>(std::ranges::find(operands, InstructionOperand::Kind::address, &InstructionOperand::kind) - operands.begin());
}

/// Gives each statement its operations.
void divide(const std::vector<Operation>& operations, std::vector<Statement>& statements) {
  auto operation = operations.begin();
  std::uint32_t number = 0;
  for (Statement& statement : statements) {
    const auto first = operation;
    while (operation != operations.end() && operation->statement == number) ++operation;
    StatementParts& own = ListInternals::parts(statement);
    own.first_operation = static_cast<std::int32_t>(first - operations.begin());
    own.last_operation = static_cast<std::int32_t>(operation - operations.begin());
    own.read_address = read_address(statement);
    ++number;
  }
}

}  // namespace

warpmat::Program resolve_list(syntax::List list, const Target* target) {
  warpmat::Program program = ListInternals::empty_program();
  ListDraft list_draft{.list = program, .declares_registers = list.declares_registers, .given_target = target};
  ProgramParts& parts = list_draft.program;
  parts.target = target;
  const Target* const last_target = target != nullptr ? target : find_target(list.module.target);
  const auto module = std::make_shared<const syntax::Module>(std::move(list.module));
  Program code = make_program(module, last_target, [&](ProgramDraft& draft, std::vector<Diagnostic>& errors) {
    draft.function_index(module->functions.front());
    draft.program.keeps_registers = true;
    resolve_function(draft, list_draft, errors);
    if (parts.target == nullptr && errors.empty())
      errors.push_back(diagnose(*module->text, {1, 1}, "no target: begin the program with .target sm_90a, or name one: --target sm_90a"));
    place_slots(parts);
    DraftFunction& function = draft.functions.front();
    function.words_bytes = static_cast<std::uint32_t>(static_cast<std::size_t>(program.words()) * bytes(RegisterClass::word));
    if (parts.statements.empty()) return;
    function.operations.pop_back();  // the exit: a list's lanes continue with another statement
    for (const auto& [value, number] : list_draft.numbers)
      if (function.registers[static_cast<std::size_t>(value)].register_class == RegisterClass::word)
        function.words.emplace_back(value,
                                    static_cast<Slot>(static_cast<std::size_t>(parts.registers[static_cast<std::size_t>(number)].slot) *
                                                      bytes(RegisterClass::word)));
  });
  if (parts.statements.empty()) return program;
  code.shared_base = 0;  // where a warp's memory begins unless its user says otherwise: then it needs no copy of the code
  divide(code.operations, parts.statements);
  parts.code = std::make_shared<const Program>(std::move(code));
  return program;
}

}  // namespace warpmat::code
