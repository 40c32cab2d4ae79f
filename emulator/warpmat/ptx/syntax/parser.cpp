#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/core.h>

#include <warpmat/ptx/syntax/module.h>
#include <warpmat/ptx/syntax/operand_reader.h>
#include <warpmat/ptx/syntax/statement_reader.h>
#include <warpmat/ptx/syntax/variable_reader.h>
#include <warpmat/ptx/text/number.h>

namespace warpmat::syntax {
namespace {

constexpr std::size_t max_errors = 100;

bool is_linkage(std::string_view directive) {
  return directive == ".visible" || directive == ".extern" || directive == ".weak" || directive == ".common";
}

/// Whether the next function or variable of a module begins with that directive.
bool begins_declaration(std::string_view directive) {
  return is_linkage(directive) || directive == ".entry" || directive == ".func" ||
         (directive.starts_with('.') && declares_variables(directive));
}

/// The numbers of a directive of a function: each is at least `least`, and there is one to `most` of them.
struct DirectiveNumbers {
  std::string_view name;
  std::int64_t least;
  std::size_t most;
};
/// What ptxas 13.0 takes.
constexpr DirectiveNumbers directive_numbers[] = {{".maxntid", 1, 3}, {".reqntid", 1, 3},      {".reqnctapercluster", 0, 3},
                                                  {".maxnreg", 1, 1}, {".minnctapersm", 1, 1}, {".maxclusterrank", 0, 1}};

class Parser {
 public:
  explicit Parser(std::string text) : module_{.text = std::make_shared<const std::string>(std::move(text))}, tokens_(*module_.text) {}

  Module module() {
    while (!tokens_.at_end()) guarded([&] { parse_top(); });
    if (!errors_.empty()) throw SyntaxError(std::move(errors_));
    return std::move(module_);
  }

 private:
  /// Calls `action`. Records an error in it, and continues after the next semicolon or brace.
  template <typename Action>
  void guarded(Action action) {
    const std::size_t began = tokens_.position();
    try {
      action();
    } catch (const StatementError& error) {
      errors_.push_back(diagnose(*module_.text, error.location, error.message));
      if (errors_.size() >= max_errors) throw SyntaxError(std::move(errors_));
      if (tokens_.position() == began) tokens_.take();
      while (!tokens_.at_end() && !tokens_.here().is('}') && !tokens_.take_if(';')) tokens_.take();
    }
  }

  void parse_top() {
    const Token& token = tokens_.here();
    if (tokens_.take_if(';') || tokens_.take_if('}')) return;
    if (token.kind != Token::Kind::qualifier)
      fail(token, fmt::format("expected a directive such as .version or .entry, found {}", spell(token)));
    if (parse_debug()) return;
    const std::string_view text = token.text;
    if (text == ".version") return parse_version();
    if (text == ".target") return parse_target();
    if (text == ".address_size") return parse_address_size();
    if (text == ".alias") return parse_alias();
    parse_declaration();
  }

  void parse_version() {
    tokens_.take();
    const Token& number = tokens_.take();
    const std::size_t dot = number.text.find('.');
    if (number.kind != Token::Kind::number || dot == std::string_view::npos)
      fail(number, fmt::format("expected a version such as 9.0, found {}", spell(number)));
    const auto major = parse_integer(number.text.substr(0, dot)), minor = parse_integer(number.text.substr(dot + 1));
    if (!major || !minor || *major > 99 || *minor > 99)
      fail(number, fmt::format("expected a version such as 9.0, found {}", spell(number)));
    module_.version = {static_cast<int>(*major), static_cast<int>(*minor)};
  }

  /// .target sm_90a, debug: the first name is the target.
  void parse_target() {
    tokens_.take();
    do {
      const Token& name = read_name(tokens_, "a target");
      module_.debug |= name.text == "debug";
      if (module_.target.empty()) module_.target = name.text;
    } while (tokens_.take_if(','));
  }

  void parse_address_size() {
    tokens_.take();
    const Token& token = tokens_.here();
    if (read_integer(tokens_) != 64) fail(token, "only .address_size 64 is executed");
  }

  void parse_alias() {
    tokens_.take();
    const Token& name = read_name(tokens_, "a function");
    tokens_.expect(',', "the function");
    module_.aliases[name.text] = read_name(tokens_, "a function").text;
    tokens_.expect(';', "the function");
  }

  /// A variable or a function, preceded by its linkage.
  void parse_declaration() {
    bool external = false;
    while (is_linkage(tokens_.here().text)) external |= tokens_.take().text == ".extern";
    const Token& token = tokens_.here();
    if (token.text == ".entry" || token.text == ".func") return parse_function();
    const bool declares = token.kind == Token::Kind::qualifier && declares_variables(token.text);
    if (!declares || token.text == ".local" || token.text == ".param")
      fail(token, fmt::format("expected .entry, .func or a variable, found {}", spell(token)));
    for (Variable& variable : read_variables(tokens_)) {
      variable.external = external;
      module_.variables.push_back(std::move(variable));
    }
  }

  void parse_function() {
    Function function{.location = tokens_.here().location, .entry = tokens_.take().text == ".entry"};
    parse_directives(function);  // .attribute, .noreturn
    if (tokens_.here().is('(')) function.returns = read_parameters(tokens_);
    function.name = read_name(tokens_, "the function's name").text;
    if (tokens_.here().is('(')) function.parameters = read_parameters(tokens_);
    parse_directives(function);
    if (tokens_.take_if('{')) {
      function.defined = true;
      parse_body(function);
    } else if (!begins_declaration(tokens_.here().text)) {  // PTX before 3.0 declares functions without a semicolon
      tokens_.expect(';', "the function");
    }
    module_.functions.push_back(std::move(function));
  }

  /// .maxntid 128, 1, 1 and similar; numbers may be missing.
  void parse_directives(Function& function) {
    while (tokens_.here().kind == Token::Kind::qualifier && !begins_declaration(tokens_.here().text)) {
      if (parse_debug()) continue;
      const Token& token = tokens_.take();
      Directive directive{token.location, token.text, {}};
      const auto* const rule = std::ranges::find(directive_numbers, token.text, &DirectiveNumbers::name);
      const bool known = rule != std::end(directive_numbers);
      if (tokens_.here().is('(')) {
        skip_nested('(', ')');
      } else if (tokens_.here().kind == Token::Kind::number || (known && tokens_.here().is('-'))) {
        do directive.numbers.push_back(read_directive_number(token, known ? rule->least : 0));
        while (tokens_.take_if(','));
      }
      const std::size_t count = directive.numbers.size();
      if (known && (count == 0 || count > rule->most))
        fail(token, fmt::format("{} takes {}, not {}", token.text, rule->most == 1 ? "one number" : "one to three numbers", count));
      function.directives.push_back(std::move(directive));
    }
  }

  std::int64_t read_directive_number(const Token& directive, std::int64_t least) {
    const Token& token = tokens_.here();
    const std::int64_t number = read_integer(tokens_);
    if (number < least || number > UINT32_MAX) fail(token, fmt::format("{} takes numbers from {} to 2^32 - 1", directive.text, least));
    return number;
  }

  void skip_nested(char open, char close) {
    int depth = 0;
    do {
      const Token& token = tokens_.take();
      depth += token.is(open) - token.is(close);
    } while (depth > 0 && !tokens_.at_end());
  }

  /// At least how many elements of a body stand between here and the next function but for ends of scopes; more where operands have braces.
  std::size_t count_elements() const {
    std::size_t count = 0;
    for (std::size_t i = tokens_.position(); i < tokens_.tokens().size(); ++i) {
      const Token& token = tokens_.tokens()[i];
      if (token.kind == Token::Kind::qualifier && (token.text == ".entry" || token.text == ".func")) break;
      count += token.is(';') || token.is(':') || token.is('{');
    }
    return count;
  }

  void parse_body(Function& function) {
    function.body.reserve(count_elements());
    int depth = 1;
    while (depth > 0) {
      if (tokens_.at_end()) fail(tokens_.here(), fmt::format("'{}' ends without its }}", function.name));
      guarded([&] { parse_element(function, depth); });
    }
  }

  void parse_element(Function& function, int& depth) {
    const Token& token = tokens_.here();
    if (tokens_.take_if(';')) return;
    if (tokens_.take_if('{')) {
      ++depth;
      function.body.emplace_back(ScopeBegin{});
    } else if (tokens_.take_if('}')) {
      if (--depth > 0) function.body.emplace_back(ScopeEnd{});
    } else if (token.kind == Token::Kind::qualifier) {
      parse_body_directive(function);
    } else if (token.kind == Token::Kind::word && tokens_.ahead().is(':')) {
      parse_label(function);
    } else {
      function.body.emplace_back(parse_statement());
    }
  }

  void parse_body_directive(Function& function) {
    if (parse_debug()) return;
    bool external = false;
    while (is_linkage(tokens_.here().text)) external |= tokens_.take().text == ".extern";
    const Token& token = tokens_.here();
    if (token.kind == Token::Kind::qualifier && declares_variables(token.text)) {
      for (Variable& variable : read_variables(tokens_)) {
        variable.external = external;
        function.body.emplace_back(std::move(variable));
      }
      return;
    }
    if (function.body.empty() && token.text.starts_with(".m")) return parse_directives(function);
    fail(token, fmt::format("expected a statement or a declaration, found {}", spell(token)));
  }

  void parse_label(Function& function) {
    const Token& name = tokens_.take();
    tokens_.take();
    const std::string_view directive = tokens_.here().kind == Token::Kind::qualifier ? tokens_.here().text : "";
    if (directive == ".branchtargets" || directive == ".calltargets") {
      TargetList list{name.location, name.text, directive == ".calltargets", {}};
      tokens_.take();
      do list.targets.push_back(read_name(tokens_, "a target").text);
      while (tokens_.take_if(','));
      tokens_.expect(';', "the targets");
      function.body.emplace_back(std::move(list));
    } else if (directive == ".callprototype") {
      parse_prototype(function, name);
    } else {
      function.body.emplace_back(Label{name.location, name.text});
    }
  }

  void parse_prototype(Function& function, const Token& name) {
    tokens_.take();
    Prototype prototype{name.location, name.text, {}, {}};
    if (tokens_.here().is('(')) prototype.returns = read_parameters(tokens_);
    read_name(tokens_, "_");
    if (tokens_.here().is('(')) prototype.parameters = read_parameters(tokens_);
    while (tokens_.here().kind == Token::Kind::qualifier) {  // .noreturn, .abi_preserve 4
      tokens_.take();
      if (tokens_.here().kind == Token::Kind::number) tokens_.take();
    }
    tokens_.expect(';', "the prototype");
    function.body.emplace_back(std::move(prototype));
  }

  Statement parse_statement() {
    Statement statement{.location = tokens_.here().location, .source_line = source_line_};
    if (tokens_.here().is('@')) statement.guard = read_guard(tokens_);
    statement.location = tokens_.here().location;
    statement.opcode = read_opcode(tokens_);
    read_rest(tokens_, statement);
    return statement;
  }

  /// .loc, .file, .section and .pragma, which do not affect the computation. Returns false for anything else.
  bool parse_debug() {
    const Token& token = tokens_.here();
    if (token.text == ".loc") return parse_loc(), true;
    if (token.text == ".file") return parse_file(), true;
    if (token.text == ".pragma") {
      while (!tokens_.at_end() && !tokens_.take_if(';')) tokens_.take();
      return true;
    }
    if (token.text != ".section") return false;
    const bool names = tokens_.ahead().text == ".debug_str";
    while (!tokens_.at_end() && !tokens_.here().is('{')) tokens_.take();
    if (names)
      parse_debug_names();
    else
      skip_nested('{', '}');
    return true;
  }

  void take_line(int line) {
    while (!tokens_.at_end() && tokens_.here().location.line == line) tokens_.take();
  }

  /// .loc FILE LINE COLUMN, optionally followed by the place of inlining on the same line: , function_name LABEL, inlined_at FILE LINE
  /// COLUMN.
  void parse_loc() {
    const int line = tokens_.take().location.line;
    SourceLine source = read_place();
    const auto here = [&] { return !tokens_.at_end() && tokens_.here().location.line == line; };
    while (here()) {
      const std::string_view word = tokens_.take().text;
      if (word == "function_name" && here()) source.function = tokens_.take().text;
      if (word == "inlined_at" && here()) source.inlined_at = find_place(read_place());
    }
    source_line_ = static_cast<int>(module_.source_lines.size());
    places_[{source.file, source.line, source.column}] = source_line_;
    module_.source_lines.push_back(source);
  }

  SourceLine read_place() {
    std::array<std::int64_t, 3> numbers;
    for (std::int64_t& number : numbers) number = read_integer(tokens_);
    return {static_cast<int>(numbers[0]), static_cast<int>(numbers[1]), static_cast<int>(numbers[2])};
  }

  /// The last .loc of that place, which says where that place itself is inlined.
  int find_place(const SourceLine& place) {
    const auto [found, added] = places_.try_emplace({place.file, place.line, place.column}, static_cast<int>(module_.source_lines.size()));
    if (added) module_.source_lines.push_back(place);
    return found->second;
  }

  /// .section .debug_str { LABEL: .b8 95,90,0 ... }: the names of inlined functions.
  void parse_debug_names() {
    std::string* text = nullptr;
    while (!tokens_.at_end() && !tokens_.here().is('}')) {
      const Token& token = tokens_.take();
      if (token.kind == Token::Kind::word && tokens_.here().is(':')) text = &module_.debug_names[token.text];
      const bool character = token.kind == Token::Kind::number && text != nullptr && token.text != "0";
      int code = 0;
      if (character && std::from_chars(token.text.data(), token.text.data() + token.text.size(), code).ec == std::errc{})
        *text += static_cast<char>(code);
    }
    if (!tokens_.at_end()) tokens_.take();
  }

  void parse_file() {
    const int line = tokens_.take().location.line;
    const auto index = static_cast<int>(read_integer(tokens_));
    const Token& name = tokens_.here();
    if (name.kind != Token::Kind::string) fail(name, fmt::format("expected a file name, found {}", spell(name)));
    module_.files[index] = name.text.substr(1, name.text.size() - 2);
    take_line(line);
  }

  Module module_;
  TokenReader tokens_;
  std::vector<Diagnostic> errors_;
  int source_line_ = -1;                               ///< of the last .loc
  std::map<std::tuple<int, int, int>, int> places_{};  ///< file, line and column of a .loc, and the last index of it
};

}  // namespace

Module parse_module(std::string text) {
  return Parser(std::move(text)).module();
}

}  // namespace warpmat::syntax
