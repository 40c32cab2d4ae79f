#pragma once

#include <algorithm>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <warpmat/ptx/text/lexer.h>
#include <warpmat/words/words.h>

namespace warpmat {

/// Changes texts at random: bits, pieces that go away or come twice, tokens, lines and statements of other texts.
class Mutator {
 public:
  /// Tokens, lines and statements that are put in come from `seeds`.
  Mutator(const std::vector<std::string>& seeds, std::uint_fast32_t seed) : random_(seed) {
    for (const std::string& text : seeds) {
      const std::vector<Token> tokens = tokenize(text);
      for (const Token& token : tokens) tokens_.emplace_back(token.text);
      for (const auto& [first, last] : lines_of(text)) lines_.push_back(text.substr(first, last - first));
      for (const auto& [first, last] : statements_of(text, tokens)) statements_.push_back(text.substr(first, last - first));
    }
  }

  /// What comes now depends on `seed` alone.
  void restart(std::uint_fast32_t seed) { random_.seed(seed); }

  std::size_t below(std::size_t limit) { return limit == 0 ? 0 : random_() % limit; }

  std::string random_bytes(std::size_t count) {
    std::string bytes;
    while (bytes.size() < count) bytes += static_cast<char>(random_());
    return bytes;
  }

  /// One to three changes: bytes, tokens, numbers, lines or statements.
  void change(std::string& text) {
    for (std::size_t n = 1 + below(3); n-- > 0;) switch (below(8)) {
        case 0: mutate(text); break;
        case 1:
        case 2: replace_token(text); break;
        case 3: change_number(text); break;
        case 4:
        case 5: change_line(text); break;
        default: change_statement(text); break;
      }
  }

 private:
  using Pieces = std::vector<std::pair<std::size_t, std::size_t>>;

  void mutate(std::string& text) {
    const std::size_t at = below(text.size() + 1), length = below(std::min<std::size_t>(text.size() - at, 40) + 1);
    switch (below(7)) {
      case 0:
        if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << below(8)));
        break;
      case 1: text.erase(at, length); break;
      case 2: text.insert(at, text.substr(at, length)); break;
      case 3: text.insert(at, any(tokens_)); break;
      case 4: text.insert(at, random_bytes(1 + below(3))); break;
      case 5: replace_token(text); break;
      case 6: text.resize(at); break;
    }
  }

  /// Replaces one token of `text` by another.
  void replace_token(std::string& text) {
    const std::vector<Token> tokens = tokenize(text);
    if (tokens.empty() || tokens_.empty()) return;
    const Token& token = tokens[below(tokens.size())];
    text.replace(static_cast<std::size_t>(token.text.data() - text.data()), token.text.size(), any(tokens_));
  }

  /// Replaces a number of `text`, if there is one, by one at the edge of some range.
  void change_number(std::string& text) {
    static const std::vector<std::string_view> edges =
        split("0 1 2 7 31 32 33 64 0x7fff 65536 0x7fffffff 0x80000000 4294967296 0x7fffffffffffffff 0xffffffffffffffff 0f7F800000", ' ');
    std::vector<Token> numbers = tokenize(text);
    std::erase_if(numbers, [](const Token& token) { return token.kind != Token::Kind::number; });
    if (numbers.empty()) return;
    const Token& token = numbers[below(numbers.size())];
    text.replace(static_cast<std::size_t>(token.text.data() - text.data()), token.text.size(), edges[below(edges.size())]);
  }

  /// Takes a line out, puts another one in, or both: much of what that makes is still a program.
  void change_line(std::string& text) { change_piece(text, lines_of(text), lines_); }

  /// The same with a statement or declaration, which ends with a semicolon.
  void change_statement(std::string& text) { change_piece(text, statements_of(text, tokenize(text)), statements_); }

  void change_piece(std::string& text, const Pieces& pieces, const std::vector<std::string>& others) {
    if (pieces.empty()) return;
    const auto [first, last] = pieces[below(pieces.size())];
    const std::size_t how = below(3);
    if (how != 0) text.erase(first, last - first);
    if (how != 1) text.insert(first, any(others));
  }

  static Pieces statements_of(const std::string& text, const std::vector<Token>& tokens) {
    Pieces statements;
    std::size_t first = 0;
    for (const Token& token : tokens)
      if (token.is(';')) {
        const auto last = static_cast<std::size_t>(token.text.data() - text.data()) + 1;
        statements.emplace_back(first, last);
        first = last;
      }
    return statements;
  }

  static Pieces lines_of(const std::string& text) {
    Pieces lines;
    for (std::size_t first = 0; first < text.size();) {
      const std::size_t end = std::min(text.find('\n', first), text.size() - 1) + 1;
      lines.emplace_back(first, end);
      first = end;
    }
    return lines;
  }

  std::string any(const std::vector<std::string>& list) { return list.empty() ? "" : list[below(list.size())]; }

  std::mt19937 random_;
  std::vector<std::string> tokens_, lines_, statements_;
};

}  // namespace warpmat
