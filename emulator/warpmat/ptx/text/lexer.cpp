#include <warpmat/ptx/text/lexer.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace warpmat {
namespace {

constexpr std::string_view punctuation = "{}[]()<>,;+-*@!:=|";

/// What a byte may be, a bit for each.
enum class ByteClass : std::uint8_t { digit = 1, begins_word = 2, in_word = 4, space = 8, mark = 16 };

constexpr std::array<std::uint8_t, 256> byte_classes = [] {
  std::array<std::uint8_t, 256> of{};
  const auto add = [&](std::string_view bytes, ByteClass what) {
    for (const char byte : bytes) of[static_cast<unsigned char>(byte)] |= static_cast<std::uint8_t>(what);
  };
  using enum ByteClass;
  constexpr std::string_view digits = "0123456789", letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_$";
  add(digits, digit);
  add(digits, in_word);
  add(letters, begins_word);
  add(letters, in_word);
  add("%", begins_word);
  add(" \t\n\r\f\v", space);
  add(punctuation, mark);
  return of;
}();

bool is(char byte, ByteClass what) {
  return (byte_classes[static_cast<unsigned char>(byte)] & static_cast<std::uint8_t>(what)) != 0;
}

class Lexer {
 public:
  explicit Lexer(std::string_view source) : rest_(source) {}

  std::vector<Token> tokens() {
    std::vector<Token> out;
    constexpr std::size_t usual_bytes = 3;  // of a token and the blanks before it, in what compilers write
    constexpr std::size_t most_reserved = std::size_t{1} << 18;
    out.reserve(std::min(rest_.size() / usual_bytes + 1, most_reserved));
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

  /// Takes a token that ends on the line on which it begins.
  Token take(Token::Kind kind, std::size_t length) {
    const Token token{kind, rest_.substr(0, length), location_};
    location_.column += static_cast<int>(length);
    rest_.remove_prefix(length);
    return token;
  }

  /// Takes a comment or blanks, over any number of lines.
  Token take_lines(Token::Kind kind, std::size_t length) {
    const Token token{kind, rest_.substr(0, length), location_};
    const std::size_t last_break = token.text.rfind('\n');
    if (last_break == std::string_view::npos) {
      location_.column += static_cast<int>(length);
    } else {
      location_.line += static_cast<int>(std::ranges::count(token.text, '\n'));
      location_.column = static_cast<int>(length - last_break);
    }
    rest_.remove_prefix(length);
    return token;
  }

  void skip_space() {
    std::size_t length = 0;
    for (char c = peek(0); is(c, ByteClass::space); c = peek(++length)) {
      location_.line += c == '\n';
      location_.column = c == '\n' ? 1 : location_.column + 1;
    }
    rest_.remove_prefix(length);
  }

  /// Skips white space and comments. Returns a `bad` token for an unterminated comment, else an `end` token, which callers ignore.
  Token skip_blanks() {
    while (true) {
      if (is(peek(0), ByteClass::space)) {
        skip_space();
      } else if (peek(0) == '/' && peek(1) == '/') {
        take(Token::Kind::end, std::min(rest_.find('\n'), rest_.size()));
      } else if (peek(0) == '/' && peek(1) == '*') {
        const std::size_t close = rest_.find("*/", 2);
        if (close == std::string_view::npos) return take_lines(Token::Kind::bad, rest_.size());
        take_lines(Token::Kind::end, close + 2);
      } else {
        return {Token::Kind::end, {}, location_};
      }
    }
  }

  std::size_t word_length(std::size_t start) const {
    while (is(peek(start), ByteClass::in_word)) ++start;
    return start;
  }

  std::size_t qualifier_length() const {
    std::size_t length = word_length(1);
    while (peek(length) == ':' && peek(length + 1) == ':' && is(peek(length + 2), ByteClass::in_word)) length = word_length(length + 2);
    return length;
  }

  /// The length of digits, hexadecimal digits, suffixes, one fraction and a signed decimal exponent. The user of the token interprets it.
  std::size_t number_length() const {
    std::size_t length = word_length(0);
    if (peek(length) == '.' && is(peek(length + 1), ByteClass::digit)) length = word_length(length + 1);
    const bool decimal = peek(1) != 'x' && peek(1) != 'X' && peek(1) != 'f' && peek(1) != 'F' && peek(1) != 'd' && peek(1) != 'D';
    const char last = peek(length - 1);
    if (decimal && (last == 'e' || last == 'E') && (peek(length) == '-' || peek(length) == '+') && is(peek(length + 1), ByteClass::digit))
      length = word_length(length + 1);
    return length;
  }

  /// A string up to its closing quote on the same line; else its opening quote alone as a bad token.
  Token take_string() {
    std::size_t length = 1;
    while (peek(length) != '"' && peek(length) != '\n' && peek(length) != '\0') length += peek(length) == '\\' ? 2u : 1u;
    return length < rest_.size() && peek(length) == '"' ? take_lines(Token::Kind::string, length + 1) : take(Token::Kind::bad, 1);
  }

  Token next() {
    const char c = peek(0);
    if (c == '"') return take_string();
    const bool needs_more = c == '%' || c == '$';  // alone they are not names
    if (is(c, ByteClass::begins_word) && (!needs_more || is(peek(1), ByteClass::in_word))) return take(Token::Kind::word, word_length(1));
    if (c == '.' && is(peek(1), ByteClass::in_word)) return take(Token::Kind::qualifier, qualifier_length());
    if (is(c, ByteClass::digit)) return take(Token::Kind::number, number_length());
    if (is(c, ByteClass::mark)) return take(Token::Kind::punctuation, 1);
    return take(Token::Kind::bad, 1);
  }

  std::string_view rest_;
  Location location_;
};

}  // namespace

std::vector<Token> tokenize(std::string_view source) {
  return Lexer(source).tokens();
}

}  // namespace warpmat
