#include <warpmat/ptx/text/lexer.h>

#include <string>

namespace warpmat::inline v0_1 {
namespace {

constexpr std::string_view punctuation = "{}[]()<>,;+-*@!:=|";

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool starts_word(char c) {
  return is_letter(c) || c == '_' || c == '$' || c == '%';
}
bool continues_word(char c) {
  return is_letter(c) || is_digit(c) || c == '_' || c == '$';
}
bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

class Lexer {
 public:
  explicit Lexer(std::string_view source) : rest_(source) {}

  std::vector<Token> tokens() {
    std::vector<Token> out;
    while (true) {
      if (const Token comment = skip_blanks(); comment.kind == Token::Kind::bad) out.push_back(comment);
      if (rest_.empty()) break;
      out.push_back(next());
    }
    out.push_back({Token::Kind::end, rest_, location_});
    return out;
  }

 private:
  char peek(std::size_t ahead) const { return ahead < rest_.size() ? rest_[ahead] : '\0'; }

  Token take(Token::Kind kind, std::size_t length) {
    const Token token{kind, rest_.substr(0, length), location_};
    for (const char c : token.text) {
      location_.column = c == '\n' ? 1 : location_.column + 1;
      location_.line += c == '\n';
    }
    rest_.remove_prefix(length);
    return token;
  }

  /// Skips white space and comments. Returns a `bad` token for an unterminated comment, else an `end` token, which callers ignore.
  Token skip_blanks() {
    while (true) {
      if (is_space(peek(0))) {
        take(Token::Kind::end, 1);
      } else if (rest_.starts_with("//")) {
        take(Token::Kind::end, std::min(rest_.find('\n'), rest_.size()));
      } else if (rest_.starts_with("/*")) {
        const std::size_t close = rest_.find("*/", 2);
        if (close == std::string_view::npos) return take(Token::Kind::bad, rest_.size());
        take(Token::Kind::end, close + 2);
      } else {
        return {Token::Kind::end, {}, location_};
      }
    }
  }

  std::size_t word_length(std::size_t start) const {
    while (continues_word(peek(start))) ++start;
    return start;
  }

  std::size_t qualifier_length() const {
    std::size_t length = word_length(1);
    while (peek(length) == ':' && peek(length + 1) == ':' && continues_word(peek(length + 2))) length = word_length(length + 2);
    return length;
  }

  /// The length of digits, hexadecimal digits, suffixes, one fraction and a signed decimal exponent. The user of the token interprets it.
  std::size_t number_length() const {
    std::size_t length = word_length(0);
    if (peek(length) == '.' && is_digit(peek(length + 1))) length = word_length(length + 1);
    const bool decimal = peek(1) != 'x' && peek(1) != 'X' && peek(1) != 'f' && peek(1) != 'F' && peek(1) != 'd' && peek(1) != 'D';
    const char last = peek(length - 1);
    if (decimal && (last == 'e' || last == 'E') && (peek(length) == '-' || peek(length) == '+') && is_digit(peek(length + 1)))
      length = word_length(length + 1);
    return length;
  }

  /// A string up to its closing quote on the same line; else its opening quote alone as a bad token.
  Token take_string() {
    std::size_t length = 1;
    while (peek(length) != '"' && peek(length) != '\n' && peek(length) != '\0') length += peek(length) == '\\' ? 2u : 1u;
    return length < rest_.size() && peek(length) == '"' ? take(Token::Kind::string, length + 1) : take(Token::Kind::bad, 1);
  }

  Token next() {
    const char c = peek(0);
    if (c == '"') return take_string();
    const bool needs_more = c == '%' || c == '$';  // alone they are not names
    if (starts_word(c) && (!needs_more || continues_word(peek(1)))) return take(Token::Kind::word, word_length(1));
    if (c == '.' && continues_word(peek(1))) return take(Token::Kind::qualifier, qualifier_length());
    if (is_digit(c)) return take(Token::Kind::number, number_length());
    if (punctuation.find(c) != std::string_view::npos) return take(Token::Kind::punctuation, 1);
    return take(Token::Kind::bad, 1);
  }

  std::string_view rest_;
  Location location_;
};

}  // namespace

std::vector<Token> tokenize(std::string_view source) {
  return Lexer(source).tokens();
}

}  // namespace warpmat::inline v0_1
