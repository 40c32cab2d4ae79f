#include <warpmat/ptx/text/token_reader.h>

#include <algorithm>

#include <fmt/core.h>

namespace warpmat {

std::string spell(const Token& token) {
  if (token.kind == Token::Kind::end) return "the end of the text";
  if (token.kind != Token::Kind::bad) return fmt::format("'{}'", token.text);
  if (token.text.starts_with("/*")) return "a comment without its */";
  const auto byte = static_cast<unsigned char>(token.text.front());
  return byte >= 0x20 && byte < 0x7f ? fmt::format("'{}'", token.text) : fmt::format("the byte {:#04x}", byte);
}

void fail(Location location, const std::string& message) {
  throw StatementError{location, message};
}

void fail(const Token& token, const std::string& message) {
  fail(token.location, message);
}

const Token& TokenReader::ahead() const {
  return tokens_[std::min(position_ + 1, tokens_.size() - 1)];
}

bool TokenReader::begins_line() const {
  return position_ == 0 || tokens_[position_ - 1].location.line < here().location.line;
}

const Token& TokenReader::take() {
  const Token& token = here();
  if (token.kind != Token::Kind::end) ++position_;
  return token;
}

bool TokenReader::take_if(char punctuation) {
  if (!here().is(punctuation)) return false;
  take();
  return true;
}

void TokenReader::expect(char punctuation, std::string_view after) {
  if (take_if(punctuation)) return;
  Location location = here().location;
  if (position_ > 0) {
    const Token& previous = tokens_[position_ - 1];
    location = {previous.location.line, previous.location.column + static_cast<int>(previous.text.size())};
  }
  throw StatementError{location, fmt::format("expected '{}' after {}, found {}", punctuation, after, spell(here()))};
}

}  // namespace warpmat
