#include <warpmat/ptx/syntax/constant_expression.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <span>
#include <string_view>

#include <fmt/core.h>

#include <warpmat/ptx/text/number.h>

namespace warpmat::syntax {
namespace {

constexpr int deepest_expression = 32;

/// A value of an expression: 64 bits, and whether they are .u64 rather than .s64.
struct Constant {
  std::uint64_t bits;
  bool is_unsigned;
};

struct Operator {
  std::string_view name;
  int precedence;  ///< higher binds more strongly
};

/// The binary operators, longer ones before their prefixes (PTX ISA 9.1 section 4.5.5, table 5).
constexpr Operator operators[]{{"||", 1}, {"&&", 2}, {"|", 3}, {"^", 4}, {"&", 5}, {"==", 6}, {"!=", 6}, {"<=", 7}, {">=", 7},
                               {"<<", 8}, {">>", 8}, {"<", 7}, {">", 7}, {"+", 9}, {"-", 9},  {"*", 10}, {"/", 10}, {"%", 10}};

bool is_character(const Token& token, char c) {
  return token.kind != Token::Kind::end && token.text.size() == 1 && token.text.front() == c;
}

/// The operator that begins with the token at `position`, or nullptr.
const Operator* operator_at(std::span<const Token> tokens, std::size_t position) {
  constexpr std::string_view beginnings = "|&^=!<>+-*/%";
  const std::string_view text = position < tokens.size() ? tokens[position].text : std::string_view{};
  if (text.size() != 1 || beginnings.find(text.front()) == std::string_view::npos) return nullptr;
  const auto matches = [&](std::string_view name) {
    for (std::size_t i = 0; i < name.size(); ++i) {
      if (position + i >= tokens.size() || !is_character(tokens[position + i], name[i])) return false;
      if (i > 0 && tokens[position].text.data() + i != tokens[position + i].text.data()) return false;
    }
    return true;
  };
  const Operator* const found = std::ranges::find_if(operators, matches, &Operator::name);
  return found == std::end(operators) ? nullptr : found;
}

Constant apply(std::string_view name, Constant a, Constant b, const Token& token) {
  const bool is_unsigned = a.is_unsigned || b.is_unsigned;
  const auto signed_a = static_cast<std::int64_t>(a.bits), signed_b = static_cast<std::int64_t>(b.bits);
  const bool less = is_unsigned ? a.bits < b.bits : signed_a < signed_b;
  if (name == "||") return {static_cast<std::uint64_t>(a.bits != 0 || b.bits != 0), false};
  if (name == "&&") return {static_cast<std::uint64_t>(a.bits != 0 && b.bits != 0), false};
  if (name == "|") return {a.bits | b.bits, is_unsigned};
  if (name == "^") return {a.bits ^ b.bits, is_unsigned};
  if (name == "&") return {a.bits & b.bits, is_unsigned};
  if (name == "==") return {static_cast<std::uint64_t>(a.bits == b.bits), false};
  if (name == "!=") return {static_cast<std::uint64_t>(a.bits != b.bits), false};
  if (name == "<") return {static_cast<std::uint64_t>(less), false};
  if (name == ">=") return {static_cast<std::uint64_t>(!less), false};
  if (name == ">") return {static_cast<std::uint64_t>(!less && a.bits != b.bits), false};
  if (name == "<=") return {static_cast<std::uint64_t>(less || a.bits == b.bits), false};
  if (name == "+") return {a.bits + b.bits, is_unsigned};
  if (name == "-") return {a.bits - b.bits, is_unsigned};
  if (name == "*") return {a.bits * b.bits, is_unsigned};
  if (name == "<<" || name == ">>") {
    if (b.bits > 63) fail(token, fmt::format("a constant is shifted by 0 to 63 bits, not by {}", signed_b));
    if (name == "<<") return {a.bits << b.bits, a.is_unsigned};
    return {a.is_unsigned ? a.bits >> b.bits : static_cast<std::uint64_t>(signed_a >> b.bits), a.is_unsigned};
  }
  if (b.bits == 0) fail(token, "a constant is divided by zero");
  if (is_unsigned) return {name == "/" ? a.bits / b.bits : a.bits % b.bits, true};
  if (signed_b == -1) return {name == "/" ? ~a.bits + 1 : 0, false};  // also for the most negative number, whose quotient wraps
  return {static_cast<std::uint64_t>(name == "/" ? signed_a / signed_b : signed_a % signed_b), false};
}

Constant read_ternary(TokenReader& tokens, int depth);

Constant read_unary(TokenReader& tokens, int depth) {
  const Token& token = tokens.here();
  if (depth > deepest_expression) fail(token, "a constant expression nests too deeply");
  if (token.kind == Token::Kind::number) {
    const auto value = parse_integer(tokens.take().text);
    if (!value) fail(token, fmt::format("expected an integer, found {}", spell(token)));
    return {*value, token.text.ends_with('U') || *value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())};
  }
  if (tokens.take_if('(')) {
    const std::string_view cast = tokens.here().kind == Token::Kind::qualifier ? tokens.here().text : "";
    if (cast == ".s64" || cast == ".u64") {
      tokens.take();
      tokens.expect(')', "the type");
      return {read_unary(tokens, depth + 1).bits, cast == ".u64"};
    }
    const Constant value = read_ternary(tokens, depth + 1);
    tokens.expect(')', "the constant");
    return value;
  }
  constexpr std::string_view prefixes = "+-!~";
  if (token.text.size() != 1 || prefixes.find(token.text.front()) == std::string_view::npos || token.kind == Token::Kind::end)
    fail(token, fmt::format("expected a constant, found {}", spell(token)));
  tokens.take();
  const Constant value = read_unary(tokens, depth + 1);
  switch (token.text.front()) {
    case '-': return {~value.bits + 1, value.is_unsigned};
    case '~': return {~value.bits, value.is_unsigned};
    case '!': return {static_cast<std::uint64_t>(value.bits == 0), false};
    default: return value;
  }
}

/// Reads operators of at least `precedence`, from left to right.
Constant read_binary(TokenReader& tokens, int precedence, int depth) {
  Constant left = read_unary(tokens, depth);
  while (true) {
    const Token& token = tokens.here();
    const Operator* const found = operator_at(tokens.tokens(), tokens.position());
    if (found == nullptr || found->precedence < precedence) return left;
    for (std::size_t i = 0; i < found->name.size(); ++i) tokens.take();
    left = apply(found->name, left, read_binary(tokens, found->precedence + 1, depth + 1), token);
  }
}

Constant read_ternary(TokenReader& tokens, int depth) {
  const Constant condition = read_binary(tokens, 1, depth);
  if (!is_character(tokens.here(), '?')) return condition;
  tokens.take();
  const Constant yes = read_ternary(tokens, depth + 1);
  tokens.expect(':', "the constant");
  const Constant no = read_ternary(tokens, depth + 1);
  return {condition.bits != 0 ? yes.bits : no.bits, yes.is_unsigned || no.is_unsigned};
}

}  // namespace

bool constant_expression_stands_here(const TokenReader& tokens) {
  if (tokens.here().kind == Token::Kind::word) return false;
  const std::vector<Token>& all = tokens.tokens();
  std::size_t i = tokens.position();
  const bool has_minus = all[i].is('-');
  bool has_operator = false, has_number = false;
  if (has_minus) ++i;
  for (int open = 0;; ++i) {
    const Token& token = all[i];
    const bool is_cast = token.text == ".s64" || token.text == ".u64";
    if (token.kind == Token::Kind::number) {
      if (token.text.find('.') != std::string_view::npos) return false;
      has_number = true;
    } else if (is_character(token, '(')) {
      ++open;
    } else if (is_character(token, ')') && open > 0) {
      --open;
    } else if (operator_at(all, i) != nullptr || is_character(token, '~') || is_character(token, '!') || is_character(token, '?') ||
               is_cast) {
      has_operator = true;
    } else if (is_character(token, ':') && has_operator) {
      continue;
    } else {
      return has_number && open == 0 && (has_operator || (has_minus && all[i - 1].is(')')));
    }
  }
}

std::uint64_t read_constant_expression(TokenReader& tokens) {
  return read_ternary(tokens, 0).bits;
}

}  // namespace warpmat::syntax
