#include <warpmat/ptx/syntax/link.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/core.h>

#include <warpmat/ptx/text/lexer.h>
#include <warpmat/ptx/text/number.h>

namespace warpmat::syntax {
namespace {

constexpr int files_of_a_module = 100000;  // file numbers of module k begin at k times that

/// A function or variable of a module, from token `first` to before token `end`.
struct Symbol {
  std::string_view name, linkage;  ///< ".visible"; empty: the module keeps it to itself
  std::size_t module = 0, first = 0, end = 0;
  bool function = false, defined = false;
};

/// A module's text with what is to be replaced in it.
struct Object {
  std::string_view text;
  std::vector<Token> tokens;
  std::map<std::size_t, std::pair<std::size_t, std::string>> edits;  ///< by offset: bytes that are replaced, and by what

  void replace(const Token& token, std::string by) {
    edits.insert_or_assign(static_cast<std::size_t>(token.text.data() - text.data()), std::pair(token.text.size(), std::move(by)));
  }
  void erase(std::size_t first, std::size_t end) {
    for (std::size_t i = first; i < end; ++i) replace(tokens[i], "");
  }
  std::string edited() const {
    std::string out;
    std::size_t at = 0;
    for (const auto& [offset, edit] : edits) {
      out.append(text, at, offset - at);
      out += edit.second;
      at = offset + edit.first;
    }
    return out.append(text, at);
  }
};

bool gives_linkage(std::string_view text) {
  return text == ".visible" || text == ".extern" || text == ".weak" || text == ".common";
}

/// Reads what a module has at its outermost level.
class Reader {
 public:
  Reader(Object& object, std::size_t module, std::vector<Symbol>& symbols) : tokens_(object.tokens), module_(module), symbols_(symbols) {}

  void read() {
    while (tokens_[at_].kind != Token::Kind::end) {
      const std::string_view text = tokens_[at_].text;
      if (text == ".version" || text == ".target" || text == ".address_size" || text == ".file")
        skip_line();
      else if (text == ".section")
        read_section();
      else if (text == ".alias" || text == ".pragma")
        skip_to_semicolon();
      else
        read_symbol();
    }
  }

 private:
  bool ended() const { return tokens_[at_].kind == Token::Kind::end; }

  void skip_line() {
    for (const int line = tokens_[at_].location.line; !ended() && tokens_[at_].location.line == line;) ++at_;
  }

  void skip_to_semicolon() {
    while (!ended() && !tokens_[at_++].is(';')) continue;
  }

  /// Its labels are names of the module's own.
  void read_section() {
    while (!ended() && !tokens_[at_].is('}')) {
      if (tokens_[at_].kind == Token::Kind::word && tokens_[at_ + 1].is(':'))
        symbols_.push_back({.name = tokens_[at_].text, .linkage = {}, .module = module_, .first = at_, .end = at_, .defined = true});
      ++at_;
    }
    if (!ended()) ++at_;
  }

  void read_symbol() {
    Symbol symbol{.name = {}, .linkage = {}, .module = module_, .first = at_};
    for (; gives_linkage(tokens_[at_].text); ++at_) symbol.linkage = tokens_[at_].text;
    symbol.function = tokens_[at_].text == ".func" || tokens_[at_].text == ".entry";
    int depth = 0;
    bool body = false, value = false;
    while (!ended()) {
      const Token& token = tokens_[at_++];
      const bool opens = token.is('(') || token.is('[') || token.is('{'), closes = token.is(')') || token.is(']') || token.is('}');
      body |= depth == 0 && token.is('{') && symbol.function;
      depth += opens ? 1 : closes ? -1 : 0;
      if (depth != 0) continue;
      value |= token.is('=');
      if (token.kind == Token::Kind::word && symbol.name.empty() && !value) symbol.name = token.text;
      if (token.is(';') || (body && token.is('}'))) break;
    }
    symbol.end = at_;
    symbol.defined = symbol.function ? body : symbol.linkage != ".extern";
    if (!symbol.name.empty()) symbols_.push_back(symbol);
  }

  const std::vector<Token>& tokens_;
  const std::size_t module_;
  std::vector<Symbol>& symbols_;
  std::size_t at_ = 0;
};

/// Gives a name that a module keeps to itself another spelling there.
void rename(Object& object, std::string_view name, std::size_t module) {
  for (const Token& token : object.tokens)
    if (token.kind == Token::Kind::word && token.text == name) object.replace(token, fmt::format("{}$of_object_{}", name, module + 1));
}

/// Keeps one definition of a symbol that modules share, and declarations where it has none.
void join(std::vector<Object>& objects, const std::vector<const Symbol*>& shared) {
  const Symbol* kept = nullptr;
  for (const Symbol* const symbol : shared) {
    if (!symbol->defined) continue;
    const bool strong = symbol->linkage == ".visible";
    if (kept != nullptr && strong && kept->linkage == ".visible")
      throw LinkError(fmt::format("'{}' is defined in object {} and in object {}", symbol->name, kept->module + 1, symbol->module + 1));
    if (kept == nullptr || (strong && kept->linkage != ".visible")) kept = symbol;
  }
  for (const Symbol* const symbol : shared) {
    Object& object = objects[symbol->module];
    if (kept == nullptr) {
      if (symbol != shared.front()) object.erase(symbol->first, symbol->end);
    } else if (symbol != kept && (symbol->defined || !symbol->function)) {
      object.erase(symbol->first, symbol->end);
    } else if (symbol != kept) {
      for (std::size_t i = symbol->first; gives_linkage(object.tokens[i].text); ++i) object.replace(object.tokens[i], "");
    }
  }
}

/// .file 1, .loc 1 and inlined_at 1 name files of the module.
void renumber_files(Object& object, std::size_t module) {
  const auto& tokens = object.tokens;
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (tokens[i].text != ".file" && tokens[i].text != ".loc" && tokens[i].text != "inlined_at") continue;
    if (const auto number = parse_integer(tokens[i + 1].text))
      object.replace(tokens[i + 1], std::to_string(*number + module * files_of_a_module));
  }
}

}  // namespace

std::string link_modules(const std::vector<std::string>& modules) {
  if (modules.size() == 1) return modules.front();
  std::vector<Object> objects;
  std::vector<Symbol> symbols;
  for (const std::string& text : modules) objects.push_back({.text = text, .tokens = tokenize(text), .edits = {}});
  for (std::size_t i = 0; i < objects.size(); ++i) Reader(objects[i], i, symbols).read();
  std::map<std::string_view, std::set<std::size_t>> modules_of;
  std::map<std::string_view, std::vector<const Symbol*>> shared;
  for (const Symbol& symbol : symbols) {
    modules_of[symbol.name].insert(symbol.module);
    if (!symbol.linkage.empty()) shared[symbol.name].push_back(&symbol);
  }
  for (std::size_t i = 0; i < objects.size(); ++i) renumber_files(objects[i], i);
  for (const Symbol& symbol : symbols)
    if (symbol.linkage.empty() && modules_of.at(symbol.name).size() > 1) rename(objects[symbol.module], symbol.name, symbol.module);
  for (const auto& [name, all] : shared) join(objects, all);
  std::string linked;
  for (const Object& object : objects) linked += object.edited() + "\n";
  return linked;
}

}  // namespace warpmat::syntax
