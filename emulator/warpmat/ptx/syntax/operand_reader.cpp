#include <warpmat/ptx/syntax/operand_reader.h>

#include <algorithm>

#include <fmt/core.h>

#include <warpmat/ptx/syntax/constant_expression.h>
#include <warpmat/ptx/text/number.h>

namespace warpmat::syntax {
namespace {

constexpr int deepest_operand = 8;
constexpr std::size_t usual_operands = 4;

/// Whether the token at `here` directly follows the previous one, as .x in %tid.x does.
bool touches(const Token& before, const Token& here) {
  return before.text.data() + before.text.size() == here.text.data();
}

Operand read_operand(TokenReader& tokens, int depth);

Operand read_number(const Token& number, bool negative) {
  Operand operand{Operand::Kind::number, number.location, {}};
  operand.negative = negative;
  if (number.kind != Token::Kind::number) fail(number, fmt::format("expected a number, found {}", spell(number)));
  operand.text = number.text;
  return operand;
}

Operand read_constant(TokenReader& tokens) {
  Operand operand{Operand::Kind::number, tokens.here().location, {}};
  const char* const begin = tokens.here().text.data();
  const std::size_t first = tokens.position();
  operand.value = read_constant_expression(tokens);
  const Token& last = tokens.tokens()[std::max(first, tokens.position() - 1)];
  operand.text = {begin, static_cast<std::size_t>(last.text.data() + last.text.size() - begin)};
  return operand;
}

/// %r1, %tid.x, !%p1, variable+4
Operand read_named(TokenReader& tokens) {
  Operand operand{Operand::Kind::name, tokens.here().location, {}};
  operand.inverted = tokens.take_if('!');
  const Token* last = &read_name(tokens, "an operand");
  const char* const begin = last->text.data();
  while (tokens.here().kind == Token::Kind::qualifier && touches(*last, tokens.here())) last = &tokens.take();
  operand.text = {begin, static_cast<std::size_t>(last->text.data() + last->text.size() - begin)};
  operand.offset = read_offsets(tokens);
  return operand;
}

/// Operands separated by commas up to `close`, which is consumed.
std::vector<Operand> read_items(TokenReader& tokens, char close, int depth) {
  std::vector<Operand> items;
  if (tokens.take_if(close)) return items;
  if (close != ']') items.reserve(usual_operands);
  do items.push_back(read_operand(tokens, depth + 1));
  while (tokens.take_if(','));
  tokens.expect(close, "the operands");
  return items;
}

Operand read_address(TokenReader& tokens, int depth) {
  Operand operand{Operand::Kind::address, tokens.here().location, {}};
  tokens.take();
  operand.items = read_items(tokens, ']', depth);
  if (operand.items.empty()) throw StatementError{operand.location, "expected an address between [ and ]"};
  Operand& base = operand.items.front();
  operand.offset = base.offset;
  base.offset = 0;
  return operand;
}

Operand read_single(TokenReader& tokens, int depth) {
  const Token& token = tokens.here();
  if (depth > deepest_operand) fail(token, "operands nest too deeply");
  if (token.is('[')) return read_address(tokens, depth);
  if (constant_expression_stands_here(tokens)) return read_constant(tokens);
  if (token.is('{') || token.is('(')) {
    Operand operand{token.is('{') ? Operand::Kind::vector : Operand::Kind::list, token.location, {}};
    const char close = token.is('{') ? '}' : ')';
    tokens.take();
    operand.items = read_items(tokens, close, depth);
    return operand;
  }
  const bool negative = tokens.take_if('-');
  const bool number = negative ? tokens.here().kind != Token::Kind::word : tokens.here().kind == Token::Kind::number;
  Operand operand = number ? read_number(tokens.take(), negative) : read_named(tokens);
  operand.location = token.location;
  operand.negative = negative;
  return operand;
}

Operand read_operand(TokenReader& tokens, int depth) {
  Operand first = read_single(tokens, depth);
  if (!tokens.here().is('|')) return first;
  tokens.take();
  Operand pair{Operand::Kind::pair, first.location, {}};
  pair.items.push_back(std::move(first));
  pair.items.push_back(read_single(tokens, depth));
  return pair;
}

}  // namespace

Operand read_operand(TokenReader& tokens) {
  return read_operand(tokens, 0);
}

std::vector<Operand> read_operands(TokenReader& tokens) {
  std::vector<Operand> operands;
  if (tokens.here().is(';')) return operands;
  operands.reserve(usual_operands);
  do operands.push_back(read_operand(tokens, 0));
  while (tokens.take_if(','));
  return operands;
}

std::int64_t read_integer(TokenReader& tokens) {
  const bool negative = tokens.take_if('-');
  const Token& token = tokens.take();
  const auto value = token.kind == Token::Kind::number ? parse_integer(token.text) : std::nullopt;
  if (!value) fail(token, fmt::format("expected an integer, found {}", spell(token)));
  return static_cast<std::int64_t>(negative ? ~*value + 1 : *value);
}

std::int64_t read_offsets(TokenReader& tokens) {
  const Token& sign = tokens.here();
  if (sign.is('-')) fail(sign, "ptxas takes no minus here: write +-");
  return tokens.take_if('+') ? static_cast<std::int64_t>(read_constant_expression(tokens)) : 0;
}

const Token& read_name(TokenReader& tokens, std::string_view what) {
  const Token& token = tokens.here();
  if (token.kind != Token::Kind::word) fail(token, fmt::format("expected {}, found {}", what, spell(token)));
  return tokens.take();
}

}  // namespace warpmat::syntax
