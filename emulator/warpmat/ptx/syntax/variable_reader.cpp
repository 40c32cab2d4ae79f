#include <warpmat/ptx/syntax/variable_reader.h>

#include <fmt/core.h>

#include <warpmat/ptx/syntax/operand_reader.h>
#include <warpmat/ptx/text/number.h>
#include <warpmat/tables/types.h>

namespace warpmat::syntax {
namespace {

constexpr std::int64_t register_limit = 1 << 20;
constexpr int deepest_initialiser = 8;

void skip_parentheses(TokenReader& tokens) {
  if (!tokens.take_if('(')) return;
  for (int depth = 1; depth > 0 && !tokens.at_end();) {
    const Token& token = tokens.take();
    depth += token.is('(') - token.is(')');
  }
}

/// .align 8, .v4, .ptr .global .align 16, .attribute(...), and the type, in any order before the name.
void read_attributes(TokenReader& tokens, Variable& variable) {
  while (tokens.here().kind == Token::Kind::qualifier) {
    const std::string_view text = tokens.take().text;
    if (text == ".align") {
      (variable.pointer ? variable.pointer_alignment : variable.alignment) = read_integer(tokens);
    } else if (text == ".v2" || text == ".v4") {
      variable.vector = text == ".v2" ? 2 : 4;
    } else if (text == ".ptr") {
      variable.pointer = true;
    } else if (text == ".attribute") {
      skip_parentheses(tokens);
    } else if (variable.pointer && find_space(text)) {
      variable.pointer_space = text.substr(1);
    } else {
      variable.type = text.substr(1);
    }
  }
}

/// <82> or [2][3].
void read_extents(TokenReader& tokens, Variable& variable) {
  if (tokens.take_if('<')) {
    const Token& token = tokens.here();
    variable.registers = read_integer(tokens);
    if (variable.registers < 1 || variable.registers > register_limit)
      fail(token, fmt::format("a range has 1 to {} registers", register_limit));
    tokens.expect('>', "the number of registers");
  }
  while (tokens.take_if('[')) {
    if (tokens.take_if(']')) {
      variable.extents.push_back(-1);
      continue;
    }
    const Token& token = tokens.here();
    variable.extents.push_back(read_integer(tokens));
    if (variable.extents.back() < 0) fail(token, "an array has no negative number of elements");
    tokens.expect(']', "the number of elements");
  }
}

/// symbol+4 or generic(symbol)+4
void read_symbol(TokenReader& tokens, Initialiser& value) {
  const Token& name = read_name(tokens, "a number or a variable");
  value.symbol = name.text;
  if (tokens.take_if('(')) {
    if (name.text != "generic") fail(name, fmt::format("expected a number, a variable or generic(variable), found {}", spell(name)));
    value.generic = true;
    value.symbol = read_name(tokens, "a variable").text;
    tokens.expect(')', "the variable");
  }
  value.offset = read_offsets(tokens);
}

void read_values(TokenReader& tokens, std::vector<Initialiser>& values, int depth) {
  const Token& token = tokens.here();
  if (tokens.take_if('{')) {
    if (depth > deepest_initialiser) fail(token, "initialisers nest too deeply");
    if (tokens.take_if('}')) return;
    do read_values(tokens, values, depth + 1);
    while (tokens.take_if(','));
    tokens.expect('}', "the initialisers");
    return;
  }
  Initialiser value;
  if (token.kind == Token::Kind::word) {
    read_symbol(tokens, value);
  } else {
    value.negative = tokens.take_if('-');
    const Token& number = tokens.take();
    if (number.kind != Token::Kind::number) fail(number, fmt::format("expected a number, found {}", spell(number)));
    value.number = number.text;
    if (tokens.take_if('(')) {  // a mask before an address
      value.byte_mask = parse_integer(number.text).value_or(0);
      value.number = {};
      read_symbol(tokens, value);
      tokens.expect(')', "the variable");
    }
  }
  values.push_back(value);
}

}  // namespace

std::optional<Space> find_space(std::string_view directive) {
  for (const Space space : {Space::global, Space::constant, Space::shared, Space::local, Space::param})
    if (directive.substr(1) == name(space)) return space;
  return std::nullopt;
}

bool declares_variables(std::string_view directive) {
  return directive == register_directive || find_space(directive);
}

std::vector<Variable> read_variables(TokenReader& tokens) {
  Variable common{.location = tokens.here().location, .space = find_space(tokens.here().text)};
  tokens.take();
  read_attributes(tokens, common);
  std::vector<Variable> variables;
  do {
    Variable variable = common;
    variable.location = tokens.here().location;
    variable.follows = !variables.empty();
    variable.name = read_name(tokens, "a name").text;
    read_extents(tokens, variable);
    if (tokens.take_if('=')) read_values(tokens, variable.values, 0);
    variables.push_back(std::move(variable));
  } while (tokens.take_if(','));
  tokens.expect(';', "the declaration");
  return variables;
}

std::vector<Variable> read_parameters(TokenReader& tokens) {
  tokens.expect('(', "the name");
  std::vector<Variable> parameters;
  if (tokens.take_if(')')) return parameters;
  do {
    const Token& first = tokens.here();
    const auto space = first.kind == Token::Kind::qualifier ? find_space(first.text) : std::nullopt;
    if (space != Space::param && first.text != register_directive)
      fail(first, fmt::format("expected .param or .reg, found {}", spell(first)));
    tokens.take();
    Variable parameter{.location = first.location, .space = space};
    read_attributes(tokens, parameter);
    parameter.name = read_name(tokens, "a name").text;
    read_extents(tokens, parameter);
    parameters.push_back(std::move(parameter));
  } while (tokens.take_if(','));
  tokens.expect(')', "the parameters");
  return parameters;
}

}  // namespace warpmat::syntax
