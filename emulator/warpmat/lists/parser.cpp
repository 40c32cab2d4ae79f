#include <warpmat/program.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <fmt/core.h>

#include <warpmat/lists/declarations.h>
#include <warpmat/lists/list_internals.h>
#include <warpmat/lists/operand_checker.h>
#include <warpmat/lists/slots.h>
#include <warpmat/ptx/catalogue/restrictions.h>
#include <warpmat/ptx/program/resolve_list.h>
#include <warpmat/ptx/syntax/operand_reader.h>
#include <warpmat/ptx/text/excerpt.h>

namespace warpmat::inline v0_1 {
namespace {

/// Parses the statements; directives and operands have their own parsers.
class Parser {
 public:
  Parser(std::string_view source, const Target* target)
      : text_(std::make_shared<const std::string>(source)),
        tokens_(*text_),
        declarations_(tokens_, program_, target),
        operands_(program_, declarations_) {}

  Program program() {
    while (!tokens_.at_end()) {
      try {
        parse_one();
      } catch (const StatementError& error) {
        report(error.location, error.message);
        const bool has_ended = tokens_.position() > failed_at_ && tokens_.behind(';');
        if (!has_ended) recover();
      }
    }
    refuse_labels_of_names();
    if (program_.target() == nullptr && errors_.empty())
      report({1, 1}, "no target: begin the program with .target sm_90a, or name one: --target sm_90a");
    if (!errors_.empty()) throw SyntaxError(std::move(errors_));
    place_slots(ListInternals::parts(program_));
    if (!body_.empty()) resolve();
    return std::move(program_);
  }

 private:
  /// Labels, registers and variables share one name space. Undeclared registers are created after their labels.
  void refuse_labels_of_names() {
    for (const Statement& statement : program_.statements())
      if (program_.find_variable(statement.label()) != nullptr || declarations_.find_register(statement.label()) != nullptr)
        report(statement.location(),
               fmt::format("'{}' is a register or a variable already: a label needs a name of its own", statement.label()));
  }

  /// Whether an operation waits for no lane and has no message of its own in a list, so that others may follow at once.
  static bool runs_on(const code::Operation& operation) {
    using enum catalogue::Semantics;
    return catalogue::computes(operation.semantics) || operation.semantics == special || operation.semantics == matrix;
  }

  /// Resolves the statements.
  void resolve() {
    const auto module = std::make_shared<syntax::Module>();
    module->text = text_;
    module->version = program_.version();
    module->functions.push_back({.entry = true, .defined = true, .body = std::move(body_)});
    ProgramParts& parts = ListInternals::parts(program_);
    parts.code = std::make_shared<const code::Program>(code::resolve_list(module, program_));
    const std::vector<code::Operation>& operations = parts.code->operations;
    auto operation = operations.begin();
    std::uint32_t number = 0;
    for (Statement& statement : parts.statements) {
      const auto first = operation;
      while (operation != operations.end() && operation->statement == number) ++operation;
      StatementParts& own = ListInternals::parts(statement);
      own.first_operation = static_cast<std::int32_t>(first - operations.begin());
      own.last_operation = static_cast<std::int32_t>(operation - operations.begin());
      const bool notes_addresses = statement.matrix() != nullptr && statement.matrix()->form().mnemonic == Mnemonic::ldmatrix;
      own.runs_on = !notes_addresses && std::all_of(first, operation, runs_on);
      ++number;
    }
  }

  void report(Location location, const std::string& message) { errors_.push_back(diagnose(*text_, location, message)); }

  /// Continues after the next semicolon, or before a line that begins with a known instruction or a directive.
  void recover() {
    if (tokens_.here().kind == Token::Kind::bad) tokens_.take();
    while (!tokens_.at_end()) {
      if (tokens_.take_if(';')) return;
      const Token& token = tokens_.here();
      const bool starts = (token.kind == Token::Kind::word && tokens_.ahead().kind == Token::Kind::qualifier) || is_directive(token);
      if (tokens_.begins_line() && starts && tokens_.position() != failed_at_) break;
      tokens_.take();
    }
    failed_at_ = tokens_.position();
  }

  void parse_one() {
    failed_at_ = tokens_.position();
    label_.clear();
    guard_.reset();
    guard_text_.reset();
    if (tokens_.take_if(';')) return;
    const Token& token = tokens_.here();
    if (token.kind == Token::Kind::qualifier) return declarations_.parse_directive();
    if (token.is('{') || token.is('}'))
      fail(token, "a block or a kernel is no list of statements: 'warpmat launch' and Module take whole kernels");
    if (token.kind == Token::Kind::word && tokens_.ahead().is(':')) label_ = parse_label();
    if (tokens_.here().is('@')) parse_guard();
    if (tokens_.here().kind != Token::Kind::word)
      fail(tokens_.here(), fmt::format("expected an instruction or a directive, found {}", spell(tokens_.here())));
    parse_statement();
  }

  /// name: before a statement.
  std::string parse_label() {
    const Token& name = tokens_.take();
    tokens_.take();
    if (!labels_.insert(std::string(name.text)).second) fail(name, fmt::format("two statements are called '{}'", name.text));
    const bool follows = tokens_.here().is('@') || (tokens_.here().kind == Token::Kind::word && !tokens_.ahead().is(':'));
    if (!follows) fail(tokens_.here(), fmt::format("expected the statement that '{}' names, found {}", name.text, spell(tokens_.here())));
    return std::string(name.text);
  }

  /// @p or @!p before a statement.
  void parse_guard() {
    tokens_.take();
    syntax::Operand predicate{syntax::Operand::Kind::name, tokens_.here().location};
    predicate.inverted = tokens_.take_if('!');
    predicate.text = syntax::read_name(tokens_, "a predicate").text;
    guard_ = operands_.guard(predicate);
    guard_text_ = syntax::Guard{predicate.text, predicate.inverted};
  }

  void parse_statement() {
    const Token& mnemonic = tokens_.take();
    std::string opcode(mnemonic.text);
    while (tokens_.here().kind == Token::Kind::qualifier) {
      constexpr PtxVersion cta_since{7, 8};
      if (tokens_.here().text == ".shared::cta" && program_.version() < cta_since)
        fail(tokens_.here(),
             fmt::format(".shared::cta needs PTX {} or later; the version is {}", to_string(cta_since), to_string(program_.version())));
      opcode += tokens_.take().text;
    }
    if (program_.target() == nullptr) fail(mnemonic, "no target yet: begin the program with .target sm_90a, or name one: --target sm_90a");

    if (is_matrix_mnemonic(mnemonic.text))
      parse_matrix_statement(mnemonic, opcode);
    else
      parse_scalar_statement(mnemonic, opcode);
  }

  void parse_matrix_statement(const Token& mnemonic, const std::string& opcode) {
    const Form* form = find_form(opcode);
    if (form == nullptr) fail(mnemonic, explain_unknown_opcode(opcode));
    if (guard_) fail(mnemonic, "a matrix instruction has no guard in a list of statements: all lanes of the warp take part");
    if (const auto reason = unavailable(*form, *program_.target(), program_.version())) fail(mnemonic, *reason);
    const Instruction instruction(*form, *program_.target(), program_.version());
    StatementParts statement{mnemonic.location, instruction};
    const std::size_t most = form->operands.size();
    const bool may_omit = form->operands.back().kind == OperandKind::stride;
    const std::vector<syntax::Operand> given = read_operands(mnemonic, may_omit ? most - 1 : most, most);
    const bool no_stride = given.size() < most;
    for (std::size_t i = 0; i < given.size(); ++i) {
      const Operand& operand = form->operands[i];
      const std::string what = fmt::format("operand {} of {}", name(operand.name), mnemonic.text);
      statement.operands.push_back(operands_.matrix_operand(given[i], instruction, operand, what));
    }
    if (no_stride) statement.operands.push_back({OperandText::Kind::omitted, {}, 0});
    body_.push_back(syntax::Statement{.location = mnemonic.location, .opcode = opcode, .operands = given});
    add(std::move(statement));
  }

  void parse_scalar_statement(const Token& mnemonic, const std::string& opcode) {
    std::optional<ScalarInstruction> instruction = find_scalar_instruction(opcode);
    if (!instruction) fail(mnemonic, explain_unknown_scalar(opcode));
    if (const auto reason = catalogue::refusal(*catalogue::find_row(opcode), *program_.target(), program_.version()))
      fail(mnemonic, *reason);
    StatementParts statement{mnemonic.location, std::move(*instruction)};
    const std::string of = fmt::format(" of {}", mnemonic.text);
    const bool moves = mnemonic.text == "mov";
    const std::vector<ScalarArgument>& arguments = std::get<ScalarInstruction>(statement.instruction).operands;
    const auto count = static_cast<std::size_t>(std::ranges::count(arguments, false, &ScalarArgument::paired));
    const std::vector<syntax::Operand> given = read_operands(mnemonic, count, count);
    const auto place_of = [&](const ScalarArgument& argument) {
      return Slot{(argument.written ? "the result" : "a source") + of,
                  argument.accepts,
                  argument.type,
                  argument.written,
                  argument.may_be_wider,
                  moves && !argument.written};
    };
    std::size_t next = 0;  // of `arguments`
    for (const syntax::Operand& text : given) {
      const ScalarArgument& argument = arguments[next++];
      const ScalarArgument* const second = next < arguments.size() && arguments[next].paired ? &arguments[next++] : nullptr;
      const bool is_pair = text.kind == syntax::Operand::Kind::pair;
      if (is_pair && second == nullptr) fail(text.location, fmt::format("{} has no second result here", mnemonic.text));
      if (!is_pair && second != nullptr && !second->optional)
        fail(text.location, fmt::format("{} writes two results, with | between them", mnemonic.text));
      if (argument.type == nullptr) {
        statement.operands.push_back(operands_.address(text, "the address"));
      } else if (is_pair) {
        statement.operands.push_back(operands_.pair(text, place_of(argument), place_of(*second)));
      } else {
        statement.operands.push_back(operands_.group(text, place_of(argument), argument.count, argument.count > 1));
      }
    }
    body_.push_back(syntax::Statement{.location = mnemonic.location, .guard = guard_text_, .opcode = opcode, .operands = given});
    add(std::move(statement));
  }

  /// The operands of the statement, `fewest` to `most`, and its end.
  std::vector<syntax::Operand> read_operands(const Token& mnemonic, std::size_t fewest, std::size_t most) {
    std::vector<syntax::Operand> operands = syntax::read_operands(tokens_);
    const Location end = tokens_.here().location;
    tokens_.expect(';', "the statement");
    const std::size_t given = operands.size();
    if (given < fewest || given > most)
      fail(given < fewest ? end : operands[most].location, fmt::format("{} takes {} operand{} here, {} {} given", mnemonic.text, most,
                                                                       most == 1 ? "" : "s", given, given == 1 ? "is" : "are"));
    return operands;
  }

  void add(StatementParts statement) {
    statement.label = std::exchange(label_, {});
    statement.guard = guard_;
    ListInternals::parts(program_).statements.push_back(ListInternals::statement(std::move(statement)));
  }

  std::shared_ptr<const std::string> text_;  ///< owns what all names point into
  TokenReader tokens_;
  std::string label_;             ///< of the current statement; empty if it has none
  std::set<std::string> labels_;  ///< all so far
  std::optional<Item> guard_;     ///< of the current statement
  std::optional<syntax::Guard> guard_text_;
  std::size_t failed_at_ = 0;  ///< the start of the current statement: recovery must advance beyond it
  Program program_ = ListInternals::empty_program();
  Declarations declarations_;
  OperandChecker operands_;
  std::vector<syntax::Element> body_;  ///< the statements
  std::vector<Diagnostic> errors_;
};

}  // namespace

Program parse(std::string_view text, std::string_view target_name) {
  return Parser(text, target_name.empty() ? nullptr : &target(target_name)).program();
}

}  // namespace warpmat::inline v0_1
