#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <warpmat/ptx/declarations.h>
#include <warpmat/ptx/excerpt.h>
#include <warpmat/ptx/operand_parser.h>
#include <warpmat/ptx/slots.h>

namespace warpmat {
namespace {

/// Parses the statements; directives and operands have parsers of their own.
class Parser {
 public:
  Parser(std::string_view source, const Target* target)
      : source_(source), tokens_(source), declarations_(tokens_, program_, target), operands_(tokens_, program_, declarations_) {}

  Program program() {
    while (!tokens_.at_end()) {
      try {
        parse_one();
      } catch (const StatementError& error) {
        report(error.location, error.message);
        recover();
      }
    }
    refuse_labels_of_names();
    if (program_.target == nullptr && errors_.empty()) report({1, 1}, "no target: begin the program with .target sm_90a, or name one");
    if (!errors_.empty()) throw SyntaxError(std::move(errors_));
    place_slots(program_);
    return std::move(program_);
  }

 private:
  /// Labels, registers and variables share their names. Registers without a declaration come later than their labels.
  void refuse_labels_of_names() {
    for (const Statement& statement : program_.statements)
      if (program_.find_variable(statement.label) != nullptr || declarations_.find_register(statement.label) != nullptr)
        report(statement.location,
               fmt::format("'{}' is a register or a variable already: a label needs a name of its own", statement.label));
  }

  void report(Location location, const std::string& message) { errors_.push_back(diagnose(source_, location, message)); }

  /// Goes on behind the next semicolon, or before a line that begins with a known instruction or a directive.
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
    if (tokens_.take_if(';')) return;
    const Token& token = tokens_.here();
    if (token.kind == Token::Kind::qualifier) return declarations_.parse_directive();
    if (token.is('@')) fail(token, "predicates are not supported: every lane executes every statement");
    if (token.is('{') || token.is('}'))
      fail(token, "a block or a kernel is no list of statements: 'warpmat launch' and Module take whole kernels");
    if (token.kind != Token::Kind::word) fail(token, fmt::format("expected an instruction or a directive, found {}", spell(token)));
    if (tokens_.ahead().is(':')) label_ = parse_label();
    parse_statement();
  }

  /// name: before a statement.
  std::string parse_label() {
    const Token& name = tokens_.take();
    tokens_.take();
    if (!labels_.insert(std::string(name.text)).second) fail(name, fmt::format("two statements are called '{}'", name.text));
    if (tokens_.here().kind != Token::Kind::word || tokens_.ahead().is(':'))
      fail(tokens_.here(), fmt::format("expected the statement that '{}' names, found {}", name.text, spell(tokens_.here())));
    return std::string(name.text);
  }

  void parse_statement() {
    const Token& mnemonic = tokens_.take();
    std::string opcode(mnemonic.text);
    while (tokens_.here().kind == Token::Kind::qualifier) {
      constexpr PtxVersion cta_since{7, 8};
      if (tokens_.here().text == ".shared::cta" && program_.version < cta_since)
        fail(tokens_.here(),
             fmt::format(".shared::cta needs PTX {} or later; the version is {}", to_string(cta_since), to_string(program_.version)));
      opcode += tokens_.take().text;
    }
    if (program_.target == nullptr) fail(mnemonic, "no target yet: begin the program with .target sm_90a, or name one");

    if (is_matrix_mnemonic(mnemonic.text)) {
      parse_matrix_statement(mnemonic, opcode);
    } else if (is_scalar_mnemonic(mnemonic.text)) {
      parse_scalar_statement(mnemonic, opcode);
    } else if (mnemonic.text == "bra" || mnemonic.text == "ret" || mnemonic.text == "exit" || mnemonic.text == "call") {
      fail(mnemonic, fmt::format("a list of statements runs from first to last, without {}: 'warpmat launch' and Module take whole kernels",
                                 mnemonic.text));
    } else {
      fail(mnemonic,
           fmt::format(
               "unknown instruction '{}': there are ldmatrix, stmatrix, movmatrix, mma, wmma, and mov, add, sub, mul.lo, mad.lo, shl, "
               "shr, and, or, xor, not, ld.shared, st.shared, cvt.rn, bar.warp.sync",
               mnemonic.text));
    }
  }

  void parse_matrix_statement(const Token& mnemonic, const std::string& opcode) {
    const Form* form = find_form(opcode);
    if (form == nullptr) fail(mnemonic, explain_unknown_opcode(opcode));
    if (const auto reason = unavailable(*form, *program_.target, program_.version)) fail(mnemonic, *reason);
    const Instruction instruction(*form, *program_.target, program_.version);
    Statement statement{mnemonic.location, instruction, {}};
    for (const Operand& operand : form->operands) {
      if (operand.kind == OperandKind::stride && !tokens_.here().is(',')) {
        statement.operands.push_back({OperandText::Kind::omitted, {}, 0});
        continue;
      }
      if (!statement.operands.empty()) tokens_.expect(',', "the operand");
      const std::string what = fmt::format("operand {} of {}", name(operand.name), mnemonic.text);
      statement.operands.push_back(operands_.matrix_operand(instruction, operand, what));
    }
    finish(std::move(statement));
  }

  void parse_scalar_statement(const Token& mnemonic, const std::string& opcode) {
    const ScalarInstruction* instruction = find_scalar_instruction(opcode);
    if (instruction == nullptr) fail(mnemonic, explain_unknown_scalar(opcode));
    if (const auto rule = unmet(instruction->requirement, *program_.target, program_.version))
      fail(mnemonic, fmt::format("{} {}", instruction->opcode, *rule));

    Statement statement{mnemonic.location, instruction, {}};
    const bool memory = instruction->operation == ScalarOperation::load || instruction->operation == ScalarOperation::store;
    const Slot result{fmt::format("the result of {}", mnemonic.text), instruction->result_accepts, instruction->result, true, memory};
    const Slot source{fmt::format("a source of {}", mnemonic.text),   instruction->source_accepts, instruction->source, false, memory,
                      instruction->operation == ScalarOperation::move};
    std::vector<OperandText>& operands = statement.operands;
    switch (instruction->operation) {
      case ScalarOperation::load:
        operands.push_back(operands_.group(result, instruction->vector, instruction->vector > 1));
        tokens_.expect(',', "the result");
        operands.push_back(operands_.address("the address"));
        break;
      case ScalarOperation::store:
        operands.push_back(operands_.address("the address"));
        tokens_.expect(',', "the address");
        operands.push_back(operands_.group(source, instruction->vector, instruction->vector > 1));
        break;
      case ScalarOperation::barrier: operands.push_back(operands_.group(source, 1, false)); break;
      case ScalarOperation::move:
      case ScalarOperation::compute:
        operands.push_back(operands_.group(result, 1, false));
        for (int i = 0; i < instruction->sources; ++i) {
          tokens_.expect(',', "the operand");
          operands.push_back(operands_.group(source, 1, false));
        }
        break;
    }
    finish(std::move(statement));
  }

  void finish(Statement statement) {
    tokens_.expect(';', "the statement");
    statement.label = std::exchange(label_, {});
    program_.statements.push_back(std::move(statement));
  }

  std::string_view source_;
  TokenReader tokens_;
  std::string label_;             ///< of the statement that is being parsed; empty where it has none
  std::set<std::string> labels_;  ///< all so far
  std::size_t failed_at_ = 0;     ///< where the current statement began: recovery must get beyond it
  Program program_;
  Declarations declarations_;
  OperandParser operands_;
  std::vector<Diagnostic> errors_;
};

}  // namespace

Program parse(std::string_view text, std::string_view target_name) {
  return Parser(text, target_name.empty() ? nullptr : &target(target_name)).program();
}

}  // namespace warpmat
