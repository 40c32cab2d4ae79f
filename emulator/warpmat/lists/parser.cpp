#include <warpmat/program.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/core.h>

#include <warpmat/lists/declarations.h>
#include <warpmat/lists/list_internals.h>
#include <warpmat/lists/operand_checker.h>
#include <warpmat/lists/slots.h>
#include <warpmat/ptx/catalogue/restrictions.h>
#include <warpmat/ptx/program/resolve_list.h>
#include <warpmat/ptx/syntax/module.h>

namespace warpmat::inline v0_1 {
namespace {

/// Makes a program of the tree of a list. Declarations and operands have their own checkers.
class Checker {
 public:
  Checker(syntax::List list, const Target* target)
      : list_(std::move(list)),
        given_target_(target),
        declarations_(program_, list_.declares_registers),
        operands_(program_, declarations_) {
    parts().target = target;
  }

  Program program() {
    for (const syntax::Element& element : list_.body()) {
      try {
        std::visit([&](const auto& e) { check(e); }, element);
      } catch (const StatementError& error) {
        report(error.location, error.message);
      }
    }
    refuse_labels_of_names();
    if (program_.target() == nullptr && errors_.empty())
      report({1, 1}, "no target: begin the program with .target sm_90a, or name one: --target sm_90a");
    if (!errors_.empty()) throw SyntaxError(std::move(errors_));
    place_slots(parts());
    if (!program_.statements().empty()) resolve();
    return std::move(program_);
  }

 private:
  ProgramParts& parts() { return ListInternals::parts(program_); }

  /// Labels, registers and variables share one name space. Undeclared registers are created after their labels.
  void refuse_labels_of_names() {
    for (const Statement& statement : program_.statements())
      if (program_.find_variable(statement.label()) != nullptr || declarations_.find_register(statement.label()) != nullptr)
        report(statement.location(),
               fmt::format("'{}' is a register or a variable already: a label needs a name of its own", statement.label()));
  }

  /// Whether lanes may wait for lanes at an operation.
  static bool waits(const code::Operation& operation) {
    using enum catalogue::Semantics;
    const catalogue::Semantics semantics = operation.semantics;
    return !catalogue::computes(semantics) && semantics != special && semantics != matrix && semantics != load && semantics != store;
  }

  /// Resolves the statements.
  void resolve() {
    std::erase_if(list_.body(), [](const syntax::Element& element) { return !std::holds_alternative<syntax::Statement>(element); });
    ProgramParts& parts = this->parts();
    parts.code =
        std::make_shared<const code::Program>(code::resolve_list(std::make_shared<syntax::Module>(std::move(list_.module)), program_));
    const std::vector<code::Operation>& operations = parts.code->operations;
    auto operation = operations.begin();
    std::uint32_t number = 0;
    for (Statement& statement : parts.statements) {
      const auto first = operation;
      while (operation != operations.end() && operation->statement == number) ++operation;
      StatementParts& own = ListInternals::parts(statement);
      own.first_operation = static_cast<std::int32_t>(first - operations.begin());
      own.last_operation = static_cast<std::int32_t>(operation - operations.begin());
      own.waits = std::any_of(first, operation, waits);
      ++number;
    }
  }

  void report(Location location, const std::string& message) { errors_.push_back(diagnose(*list_.module.text, location, message)); }

  void check(const syntax::Directive& directive) {
    if (directive.name == ".version")
      parts().version = {static_cast<int>(directive.numbers[0]), static_cast<int>(directive.numbers[1])};
    else if (given_target_ == nullptr)
      parts().target = find_target(directive.value);
  }

  void check(const syntax::Variable& variable) {
    if (!variable.follows) declares_ = true;
    if (!declares_) return;  // a variable before it in the declaration is wrong
    declares_ = false;
    declarations_.define(variable);
    declares_ = true;
  }

  void check(const syntax::Label& label) { label_ = label.name; }

  /// What precedes the fault in its statement may be wrong, too, and goes first.
  void check(const syntax::Fault& fault) {
    label_.clear();
    static_cast<void>(begin(fault.begun));
    fail(fault.location, fault.message);
  }

  void check(const syntax::Statement& statement) {
    std::string label = std::exchange(label_, {});
    Begun begun = begin(statement);
    StatementParts parts{statement.location, std::move(*begun.instruction)};
    parts.label = std::move(label);
    parts.guard = std::move(begun.guard);
    if (const Instruction* const matrix = std::get_if<Instruction>(&parts.instruction))
      parts.operands = matrix_operands(statement, *matrix);
    else
      parts.operands = scalar_operands(statement, std::get<ScalarInstruction>(parts.instruction));
    this->parts().statements.push_back(ListInternals::statement(std::move(parts)));
  }

  template <typename Other>
  void check(const Other&) {}  // not in a list

  static std::string_view mnemonic_of(const syntax::Statement& statement) {
    return std::string_view(statement.opcode).substr(0, statement.opcode.find('.'));
  }

  /// What stands before the operands of a statement.
  struct Begun {
    std::optional<Item> guard;
    std::optional<std::variant<Instruction, ScalarInstruction>> instruction;  ///< nothing if the statement has no opcode
  };

  Begun begin(const syntax::Statement& statement) {
    Begun begun;
    if (statement.guard) {
      const syntax::Guard& guard = *statement.guard;
      syntax::Operand predicate{syntax::Operand::Kind::name, guard.location};
      predicate.text = guard.predicate;
      predicate.inverted = guard.inverted;
      begun.guard = operands_.guard(predicate);
    }
    if (statement.opcode.empty()) return begun;
    if (program_.target() == nullptr)
      fail(statement.location, "no target yet: begin the program with .target sm_90a, or name one: --target sm_90a");
    if (is_matrix_mnemonic(mnemonic_of(statement)))
      begun.instruction = matrix_instruction(statement);
    else
      begun.instruction = scalar_instruction(statement);
    return begun;
  }

  Instruction matrix_instruction(const syntax::Statement& statement) const {
    const Form* form = find_form(statement.opcode);
    if (form == nullptr) fail(statement.location, explain_unknown_opcode(statement.opcode));
    if (statement.guard)
      fail(statement.location, "a matrix instruction has no guard in a list of statements: all lanes of the warp take part");
    if (const auto reason = unavailable(*form, *program_.target(), program_.version())) fail(statement.location, *reason);
    return {*form, *program_.target(), program_.version()};
  }

  ScalarInstruction scalar_instruction(const syntax::Statement& statement) const {
    std::optional<ScalarInstruction> instruction = find_scalar_instruction(statement.opcode);
    if (!instruction) fail(statement.location, explain_unknown_scalar(statement.opcode));
    if (const auto reason = catalogue::refusal(*catalogue::find_row(statement.opcode), *program_.target(), program_.version()))
      fail(statement.location, *reason);
    return *std::move(instruction);
  }

  std::vector<OperandText> matrix_operands(const syntax::Statement& statement, const Instruction& instruction) {
    const std::vector<Operand>& operands = find_form(statement.opcode)->operands;
    const bool may_omit = operands.back().kind == OperandKind::stride;
    check_count(statement, may_omit ? operands.size() - 1 : operands.size(), operands.size());
    std::vector<OperandText> out;
    for (std::size_t i = 0; i < statement.operands.size(); ++i)
      out.push_back(operands_.matrix_operand(statement.operands[i], instruction, operands[i], mnemonic_of(statement)));
    if (out.size() < operands.size()) out.push_back({OperandText::Kind::omitted, {}, 0});
    return out;
  }

  std::vector<OperandText> scalar_operands(const syntax::Statement& statement, const ScalarInstruction& instruction) {
    const std::string_view mnemonic = mnemonic_of(statement);
    const bool moves = catalogue::find_row(statement.opcode)->is(catalogue::Name::mov);
    const std::vector<ScalarArgument>& arguments = instruction.operands;
    const auto count = static_cast<std::size_t>(std::ranges::count(arguments, false, &ScalarArgument::paired));
    check_count(statement, count, count);
    const auto seat_of = [&](const ScalarArgument& argument) {
      return Seat{.role = argument.written ? "the result" : "a source",
                  .instruction = mnemonic,
                  .type = argument.type,
                  .accepts = argument.accepts,
                  .written = argument.written,
                  .may_be_wider = argument.may_be_wider,
                  .symbols = moves && !argument.written};
    };
    std::vector<OperandText> out;
    std::size_t next = 0;  // of `arguments`
    for (const syntax::Operand& text : statement.operands) {
      const ScalarArgument& argument = arguments[next++];
      const ScalarArgument* const second = next < arguments.size() && arguments[next].paired ? &arguments[next++] : nullptr;
      const bool is_pair = text.kind == syntax::Operand::Kind::pair;
      if (is_pair && second == nullptr) fail(text.location, fmt::format("{} has no second result here", mnemonic));
      if (!is_pair && second != nullptr && !second->optional)
        fail(text.location, fmt::format("{} writes two results, with | between them", mnemonic));
      if (argument.type == nullptr) {
        out.push_back(operands_.address(text, {.role = "the address"}));
      } else if (is_pair) {
        out.push_back(operands_.pair(text, seat_of(argument), seat_of(*second)));
      } else {
        out.push_back(operands_.group(text, seat_of(argument), argument.count, argument.count > 1));
      }
    }
    return out;
  }

  static void check_count(const syntax::Statement& statement, std::size_t fewest, std::size_t most) {
    const std::size_t given = statement.operands.size();
    if (given < fewest || given > most)
      fail(given < fewest ? statement.end : statement.operands[most].location,
           fmt::format("{} takes {} operand{} here, {} {} given", mnemonic_of(statement), most, most == 1 ? "" : "s", given,
                       given == 1 ? "is" : "are"));
  }

  syntax::List list_;
  const Target* given_target_;  ///< goes before the list's own; null: none is given
  Program program_ = ListInternals::empty_program();
  Declarations declarations_;
  OperandChecker operands_;
  std::string label_;      ///< of the next statement; empty if it has none
  bool declares_ = false;  ///< the variables of the current declaration are right so far
  std::vector<Diagnostic> errors_;
};

}  // namespace

Program parse(std::string_view text, std::string_view target_name) {
  const Target* const given = target_name.empty() ? nullptr : &target(target_name);
  const auto is_known = [](std::string_view opcode) { return find_form(opcode) != nullptr || find_scalar_instruction(opcode).has_value(); };
  return Checker(syntax::parse_list(std::string(text), is_known), given).program();
}

}  // namespace warpmat::inline v0_1
