#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <warpmat/ptx/text/lexer.h>

namespace warpmat {

/// An error that ends its statement.
struct StatementError {
  Location location;
  std::string message;
};

/// A token for messages: "'mov'", "the end of the text".
std::string spell(const Token& token);

/// Throws StatementError at `location`.
[[noreturn]] void fail(Location location, const std::string& message);
[[noreturn]] void fail(const Token& token, const std::string& message);

/// A position in a program's tokens.
class TokenReader {
 public:
  explicit TokenReader(std::string_view source) : tokens_(tokenize(source)) {}

  const std::vector<Token>& tokens() const { return tokens_; }
  std::size_t position() const { return position_; }
  bool at_end() const { return here().kind == Token::Kind::end; }
  const Token& here() const { return tokens_[position_]; }
  /// The token after here().
  const Token& ahead() const;
  /// Whether `punctuation` precedes here().
  bool behind(char punctuation) const { return position_ > 0 && tokens_[position_ - 1].is(punctuation); }
  /// Whether here() is the first token of its line.
  bool begins_line() const;

  /// Advances beyond here() and returns it; the last token is never consumed.
  const Token& take();
  bool take_if(char punctuation);
  /// Throws StatementError unless `punctuation` is here, at the place after the last token: a missing ; does not belong to the next line.
  /// `after` names what should precede it.
  void expect(char punctuation, std::string_view after);

 private:
  std::vector<Token> tokens_;
  std::size_t position_ = 0;
};

}  // namespace warpmat
