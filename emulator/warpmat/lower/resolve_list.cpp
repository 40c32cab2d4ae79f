#include <warpmat/lower/resolve_list.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <utility>

#include <warpmat/lower/context.h>
#include <warpmat/lower/control_flow.h>
#include <warpmat/lower/emit.h>
#include <warpmat/lower/list_draft.h>
#include <warpmat/lower/list_slots.h>

namespace warpmat::code {
namespace {

/// Loads a statement's predicates and 64-bit registers from their words, and stores them back.
class KeptInWords {
 public:
  KeptInWords(ProgramDraft& draft, const std::map<Value, Words>& words) : draft_(draft), words_(words) {}

  void wrap_statements(DraftFunction& function) {
    if (words_.empty()) return;
    const std::vector<DraftOperation> operations = std::exchange(function.operations, {});
    for (std::size_t first = 0, last = 0; first < operations.size(); first = last) {
      const std::uint32_t statement = operations[first].operation.statement;
      while (last < operations.size() && operations[last].operation.statement == statement) ++last;
      wrap(std::span(operations).subspan(first, last - first), function.operations);
    }
  }

 private:
  void wrap(std::span<const DraftOperation> statement, std::vector<DraftOperation>& out) {
    std::set<Value> read, written;
    const auto note = [&](std::set<Value>& values, Value value) {
      if (words_.contains(value)) values.insert(value);
    };
    for (const DraftOperation& operation : statement) {
      for_each_read(operation, [&](Value value) { note(read, value); });
      for (const Value value : operation.results) note(written, value);
    }
    const std::uint32_t number = statement.front().operation.statement;
    for (const Value value : read) out.push_back(taken(value, words_.at(value), number));
    out.insert(out.end(), statement.begin(), statement.end());
    for (const Value value : written) out.push_back(put_back(value, words_.at(value), number));
  }

  DraftOperation taken(Value value, const Words& words, std::uint32_t statement) {
    if (!words.high) return row("%predicate.b32", {value}, {words.low}, statement);
    return row("%pack.b64.b32", {value}, {words.low, *words.high}, statement);
  }

  DraftOperation put_back(Value value, const Words& words, std::uint32_t statement) {
    if (!words.high) return row("%word.pred", {words.low}, {value}, statement);
    return row("%unpack.b64.b32", {words.low, *words.high}, {value}, statement);
  }

  DraftOperation row(const std::string& opcode, std::vector<Value> results, std::vector<Value> sources, std::uint32_t statement) {
    DraftOperation operation;
    draft_.set_function(*draft_.find_match(opcode), operation.operation);
    operation.operation.statement = statement;
    operation.operation.prepares = true;
    operation.results = std::move(results);
    operation.sources = std::move(sources);
    return operation;
  }

  ProgramDraft& draft_;
  const std::map<Value, Words>& words_;
};

/// Whether lanes may wait for lanes at an operation.
bool waits(const Operation& operation) {
  using enum catalogue::Semantics;
  const catalogue::Semantics semantics = operation.semantics;
  return !catalogue::computes(semantics) && semantics != special && semantics != matrix && semantics != load && semantics != store;
}

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
    own.waits = std::any_of(first, operation, waits);
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
    draft.program.is_list = true;
    draft.function_index(module->functions.front());
    const std::map<Value, Words> kept_in_words = resolve_function(draft, list_draft, errors);
    if (parts.target == nullptr && errors.empty())
      errors.push_back(diagnose(*module->text, {1, 1}, "no target: begin the program with .target sm_90a, or name one: --target sm_90a"));
    place_slots(parts);
    DraftFunction& function = draft.functions.front();
    function.words_bytes = static_cast<std::uint32_t>(static_cast<std::size_t>(program.words()) * bytes(RegisterClass::word));
    if (parts.statements.empty()) return;
    function.operations.pop_back();  // the exit: a list's lanes continue with another statement
    KeptInWords(draft, kept_in_words).wrap_statements(function);
  });
  if (parts.statements.empty()) return program;
  code.shared_base = 0;  // where a warp's memory begins unless its user says otherwise: then it needs no copy of the code
  divide(code.operations, parts.statements);
  parts.code = std::make_shared<const Program>(std::move(code));
  return program;
}

}  // namespace warpmat::code
