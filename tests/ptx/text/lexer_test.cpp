#include <warpmat/ptx/text/lexer.h>

#include "test.h"

namespace warpmat::lexer_test {
namespace {

using Kind = Token::Kind;

/// "word mma, qualifier .sync, ...": what tokenize() made, without the end.
std::string listing(std::string_view source) {
  const char* const names[] = {"word", "qualifier", "number", "punctuation", "bad", "end"};
  std::string text;
  for (const Token& token : tokenize(source)) {
    if (token.kind == Kind::end) continue;
    text += (text.empty() ? "" : ", ") + std::string(names[static_cast<int>(token.kind)]) + ' ' + std::string(token.text);
  }
  return text;
}

TEST_CASE("lexer: what the tokens are") {
  struct Case {
    const char *source, *tokens;
  };
  const Case cases[] = {
      {"", ""},
      {"mma.sync %r0, 0x1F;", "word mma, qualifier .sync, word %r0, punctuation ,, number 0x1F, punctuation ;"},
      {".shared::cta.b16", "qualifier .shared::cta, qualifier .b16"},
      {".shared ::cta", "qualifier .shared, punctuation :, punctuation :, word cta"},
      {"a<4>{_}[x+-16]",
       "word a, punctuation <, number 4, punctuation >, punctuation {, word _, punctuation }, punctuation [, word x, "
       "punctuation +, punctuation -, number 16, punctuation ]"},
      {"_a $b %c a_1$", "word _a, word $b, word %c, word a_1$"},
      {"a%b", "word a, word %b"},
      {"% $ %;", "bad %, bad $, bad %, punctuation ;"},
      {"9.0 1.5e3 1.5e-3 1.5E+3", "number 9.0, number 1.5e3, number 1.5e-3, number 1.5E+3"},
      {"0x1e-3 0f3F80000e+1", "number 0x1e, punctuation -, number 3, number 0f3F80000e, punctuation +, number 1"},
      {"1-2 1e 1.", "number 1, punctuation -, number 2, number 1e, number 1, bad ."},
      {"0f3F800000 5U 017", "number 0f3F800000, number 5U, number 017"},
      {"a//b\nc/*d*/e/**/f", "word a, word c, word e, word f"},
      {"a/*/b*/c", "word a, word c"},
      {"a // no end", "word a"},
      {"a /* no end", "word a, bad /* no end"},
      {"a / b", "word a, bad /, word b"},
      {". ..x", "bad ., bad ., qualifier .x"},
      {"#\"`\x80", "bad #, bad \", bad `, bad \x80"},
  };
  for (const Case& c : cases) {
    INFO(c.source);
    CHECK(listing(c.source) == c.tokens);
  }
}

TEST_CASE("lexer: lines and columns count from 1, columns in bytes") {
  const std::string source = "a b\n\tc\r\n/* x\ny */ d // z\n\xc3\xa4 e\n";
  struct Place {
    const char* text;
    Location location;
  };
  const Place places[] = {{"a", {1, 1}},    {"b", {1, 3}},    {"c", {2, 2}}, {"d", {4, 6}},
                          {"\xc3", {5, 1}}, {"\xa4", {5, 2}}, {"e", {5, 4}}, {"", {6, 1}}};
  const std::vector<Token> tokens = tokenize(source);
  REQUIRE(tokens.size() == std::size(places));
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    INFO(i);
    CHECK(tokens[i].text == places[i].text);
    CHECK(tokens[i].location == places[i].location);
  }
}

TEST_CASE("lexer: every byte alone is blank, a token of its kind, or bad") {
  const std::string letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_", digits = "0123456789";
  const std::string punctuation = "{}[]()<>,;+-*@!:=|", blanks = " \t\n\r\f\v";
  for (int byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    const std::string source(1, c);
    const Token first = tokenize(source).front();
    INFO(byte);
    const auto in = [&](const std::string& set) { return set.find(c) != std::string::npos; };
    const Kind kind = in(letters)       ? Kind::word
                      : in(digits)      ? Kind::number
                      : in(punctuation) ? Kind::punctuation
                      : in(blanks)      ? Kind::end
                                        : Kind::bad;
    CHECK(first.kind == kind);
  }
}

TEST_CASE("lexer: tokens of any bytes cover them in order, but for blanks and comments") {
  std::mt19937 random(1);
  const std::string alphabet(" \n/*a0.%:;e-\x80\0", 15);
  for (int round = 0; round < 2000; ++round) {
    std::string source;
    for (std::size_t i = random() % 60; i-- > 0;) source += alphabet[random() % alphabet.size()];
    const char* at = source.data();
    for (const Token& token : tokenize(source)) {
      REQUIRE(token.text.data() >= at);
      const std::string between(at, token.text.data());
      INFO(source);
      REQUIRE((between.find_first_not_of(" \n") == std::string::npos || between.find("/*") != std::string::npos ||
               between.find("//") != std::string::npos));
      at = token.text.data() + token.text.size();
    }
    REQUIRE(at == source.data() + source.size());
  }
}

}  // namespace
}  // namespace warpmat::lexer_test
