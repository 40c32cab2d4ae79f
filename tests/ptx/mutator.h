#pragma once

#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <warpmat/ptx/lexer.h>

#include "case_count.h"

namespace warpmat {

/// Changes texts at random: bits, pieces that go away or come twice, tokens and lines of other texts.
class Mutator {
 public:
  /// Tokens and lines that are put in come from `seeds`.
  Mutator(const std::vector<std::string>& seeds, std::uint_fast32_t seed) : random_(seed) {
    for (const std::string& text : seeds) {
      for (const Token& token : tokenize(text)) tokens_.emplace_back(token.text);
      for (const auto& [first, last] : lines_of(text)) lines_.push_back(text.substr(first, last - first));
    }
  }

  std::mt19937& random() { return random_; }
  std::size_t below(std::size_t limit) { return limit == 0 ? 0 : random_() % limit; }

  std::string random_bytes(std::size_t count) {
    std::string bytes;
    while (bytes.size() < count) bytes += static_cast<char>(random_());
    return bytes;
  }

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
    const Token& token = tokens[below(tokens.size())];
    text.replace(static_cast<std::size_t>(token.text.data() - text.data()), token.text.size(), any(tokens_));
  }

  /// Takes a line out, puts another one in, or both: much of what that makes is still a program.
  void change_line(std::string& text) {
    const auto lines = lines_of(text);
    if (lines.empty()) return;
    const auto [first, last] = lines[below(lines.size())];
    const std::size_t how = below(3);
    if (how != 0) text.erase(first, last - first);
    if (how != 1) text.insert(first, any(lines_));
  }

 private:
  static std::vector<std::pair<std::size_t, std::size_t>> lines_of(const std::string& text) {
    std::vector<std::pair<std::size_t, std::size_t>> lines;
    for (std::size_t first = 0; first < text.size();) {
      const std::size_t end = std::min(text.find('\n', first), text.size() - 1) + 1;
      lines.emplace_back(first, end);
      first = end;
    }
    return lines;
  }

  const std::string& any(const std::vector<std::string>& list) { return list[below(list.size())]; }

  std::mt19937 random_;
  std::vector<std::string> tokens_, lines_;
};

/// How many inputs a fuzz test tries: `usual`, a fifth of that under sanitizers, or what WARPMAT_FUZZ_INPUTS says.
inline int fuzz_inputs(int usual) {
  const char* const wanted = std::getenv("WARPMAT_FUZZ_INPUTS");
  return wanted != nullptr ? std::atoi(wanted) : WARPMAT_SANITIZED ? usual / 5 : usual;
}

}  // namespace warpmat
