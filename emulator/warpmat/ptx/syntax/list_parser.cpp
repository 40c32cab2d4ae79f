#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include <fmt/core.h>

#include <warpmat/ptx/syntax/module.h>
#include <warpmat/ptx/syntax/statement_reader.h>
#include <warpmat/ptx/syntax/variable_reader.h>
#include <warpmat/ptx/text/number.h>

namespace warpmat::syntax {
namespace {

/// Whether a list has the directive that begins with `token`.
bool is_directive_of_lists(const Token& token) {
  constexpr std::array<std::string_view, 5> directives{".version", ".target", ".address_size", ".reg", ".shared"};
  return token.kind == Token::Kind::qualifier && std::ranges::find(directives, token.text) != directives.end();
}

/// Reads a list item by item: a directive, or a statement with its label.
class ListParser {
 public:
  explicit ListParser(std::string text) : tokens_(*(list_.module.text = std::make_shared<const std::string>(std::move(text)))) {
    list_.module.functions.push_back({.entry = true, .defined = true});
    list_.declares_registers = std::ranges::any_of(
        tokens_.tokens(), [](const Token& token) { return token.kind == Token::Kind::qualifier && token.text == ".reg"; });
  }

  List list() {
    while (!tokens_.at_end()) {
      began_ = tokens_.position();
      try {
        parse_item();
      } catch (StatementError& error) {
        add(Fault{error.location, std::move(error.message)});
        recover();
      }
    }
    return std::move(list_);
  }

 private:
  template <class Part>
  void add(Part part) {
    list_.body().emplace_back(std::move(part));
  }

  /// Continues after the next semicolon, or before a line that begins with an instruction or a directive.
  void recover() {
    if (tokens_.position() > began_ && tokens_.behind(';')) return;
    if (tokens_.here().kind == Token::Kind::bad) tokens_.take();
    for (; !tokens_.at_end(); tokens_.take()) {
      if (tokens_.take_if(';')) return;
      const Token& token = tokens_.here();
      const bool starts =
          (token.kind == Token::Kind::word && tokens_.ahead().kind == Token::Kind::qualifier) || is_directive_of_lists(token);
      if (tokens_.begins_line() && starts && tokens_.position() != began_) return;
    }
  }

  void parse_item() {
    if (tokens_.take_if(';')) return;
    const Token& token = tokens_.here();
    if (token.kind == Token::Kind::qualifier) return parse_directive();
    if (token.is('{') || token.is('}'))
      fail(token, "a block or a kernel is no list of statements: 'warpmat launch' and Module take whole kernels");
    if (token.kind == Token::Kind::word && tokens_.ahead().is(':')) parse_label();
    parse_statement();
  }

  void parse_directive() {
    const Token& directive = tokens_.here();
    if (directive.text == ".reg" || directive.text == ".shared") {
      for (Variable& variable : read_variables(tokens_)) add(std::move(variable));
      return;
    }
    tokens_.take();
    if (directive.text == ".version") return parse_version(directive);
    if (directive.text == ".target") return parse_target(directive);
    if (directive.text == ".address_size") return parse_address_size();
    constexpr std::array<std::string_view, 5> of_modules{".entry", ".func", ".visible", ".extern", ".weak"};
    if (std::ranges::find(of_modules, directive.text) != of_modules.end())
      fail(directive,
           fmt::format("{} is for whole kernels, which 'warpmat launch' and Module take: this is a list of statements", directive.text));
    fail(directive, fmt::format("unknown directive '{}': there are .version, .target, .address_size, .reg and .shared", directive.text));
  }

  void parse_version(const Token& directive) {
    const Token& token = tokens_.take();
    const std::size_t dot = token.text.find('.');
    const auto major = parse_integer(token.text.substr(0, dot));
    const auto minor = dot == std::string_view::npos ? std::nullopt : parse_integer(token.text.substr(dot + 1));
    if (!major || !minor || *major > 99 || *minor > 99)
      fail(token, fmt::format("expected a PTX version such as 9.0, found {}", spell(token)));
    const PtxVersion version{static_cast<int>(*major), static_cast<int>(*minor)};
    if (version > newest_ptx)
      fail(token, fmt::format("PTX {} is newer than this library knows; the newest is {}", to_string(version), to_string(newest_ptx)));
    list_.module.version = version;
    add(Directive{directive.location, directive.text, {version.major, version.minor}});
  }

  void parse_target(const Token& directive) {
    const Token& token = tokens_.take();
    const Target* const named = token.kind == Token::Kind::word ? find_target(token.text) : nullptr;
    if (named == nullptr) fail(token, fmt::format("unknown target {}: for example sm_80, sm_90a, sm_120a", spell(token)));
    list_.module.target = token.text;
    add(Directive{.location = directive.location, .name = directive.text, .value = token.text});
    if (list_.module.version < named->since)
      fail(token, fmt::format("{} needs PTX {} or later; the version is {}", named->name, to_string(named->since),
                              to_string(list_.module.version)));
  }

  void parse_address_size() {
    const Token& token = tokens_.take();
    if (token.text != "64" && token.text != "32") fail(token, fmt::format("expected an address size of 64 or 32, found {}", spell(token)));
  }

  /// name: before a statement.
  void parse_label() {
    const Token& name = tokens_.take();
    tokens_.take();
    if (!labels_.insert(name.text).second) fail(name, fmt::format("two statements are called '{}'", name.text));
    const bool follows = tokens_.here().is('@') || (tokens_.here().kind == Token::Kind::word && !tokens_.ahead().is(':'));
    if (!follows) fail(tokens_.here(), fmt::format("expected the statement that '{}' names, found {}", name.text, spell(tokens_.here())));
    add(Label{name.location, name.text});
  }

  void parse_statement() {
    Statement statement;
    if (tokens_.here().is('@')) statement.guard = read_guard(tokens_);
    if (tokens_.here().kind != Token::Kind::word)
      fail(tokens_.here(), fmt::format("expected an instruction or a directive, found {}", spell(tokens_.here())));
    statement.location = tokens_.here().location;
    const std::size_t first = tokens_.position() + 1;
    statement.opcode = read_opcode(tokens_);
    check_qualifiers(first);
    read_rest(tokens_, statement);
    add(std::move(statement));
  }

  void check_qualifiers(std::size_t first) const {
    constexpr PtxVersion cta_since{7, 8};
    const PtxVersion version = list_.module.version;
    for (std::size_t i = first; i < tokens_.position() && version < cta_since; ++i)
      if (const Token& token = tokens_.tokens()[i]; token.text == ".shared::cta")
        fail(token, fmt::format(".shared::cta needs PTX {} or later; the version is {}", to_string(cta_since), to_string(version)));
  }

  List list_;
  TokenReader tokens_;
  std::set<std::string_view> labels_;  ///< all so far
  std::size_t began_ = 0;              ///< the start of the current item: recovery must advance beyond it
};

}  // namespace

List parse_list(std::string text) {
  return ListParser(std::move(text)).list();
}

}  // namespace warpmat::syntax
