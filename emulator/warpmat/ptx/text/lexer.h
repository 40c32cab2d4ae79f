#pragma once

#include <string_view>
#include <vector>

#include <warpmat/diagnostic.h>

namespace warpmat {

/// A token of PTX text (PTX ISA 9.1 section 4). Its text points into the source.
struct Token {
  enum class Kind {
    word,         ///< identifier or mnemonic: mma, %r0, _
    qualifier,    ///< .sync, .shared::cta; the text has the leading dot
    number,       ///< 12, 0x1F, 0f3F800000, 1.5
    punctuation,  ///< one of { } [ ] ( ) < > , ; + - * @ ! : = |
    bad,          ///< a byte that PTX does not use, or an unterminated comment or string
    end,          ///< after the last token
    string,       ///< "nounroll", with its quotes
  };

  Kind kind;
  std::string_view text;
  Location location;

  bool is(char punctuation) const { return kind == Kind::punctuation && text.front() == punctuation; }
};

/// Splits `source` into tokens without comments, with one `end` at the end. Never fails: text that is not PTX becomes a `bad` token.
std::vector<Token> tokenize(std::string_view source);

}  // namespace warpmat
