#include <warpmat/ptx/syntax/statement_reader.h>

#include <warpmat/ptx/syntax/operand_reader.h>

namespace warpmat::syntax {

Guard read_guard(TokenReader& tokens) {
  tokens.take();
  const Location location = tokens.here().location;
  const bool inverted = tokens.take_if('!');
  return {read_name(tokens, "a predicate").text, inverted, location};
}

std::string read_opcode(TokenReader& tokens) {
  const std::string_view mnemonic = read_name(tokens, "an instruction").text;
  std::string_view unbroken = mnemonic;
  const auto continues = [&] { return tokens.here().kind == Token::Kind::qualifier; };
  while (continues() && tokens.here().text.data() == unbroken.data() + unbroken.size())
    unbroken = {mnemonic.data(), unbroken.size() + tokens.take().text.size()};
  std::string opcode(unbroken);
  while (continues()) opcode += tokens.take().text;
  return opcode;
}

void read_rest(TokenReader& tokens, Statement& statement) {
  statement.operands = read_operands(tokens);
  statement.end = tokens.here().location;
  tokens.expect(';', "the statement");
}

}  // namespace warpmat::syntax
