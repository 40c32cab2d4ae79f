#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace warpmat {

/// What a text has beside an opcode, for messages: "a predicate", "blanks", "operands", "a semicolon", "capitals".
struct OpcodeText {
  std::string opcode;               ///< in the letters that it is written in, as far as blanks, a semicolon or operands
  std::vector<std::string> beside;  ///< in the text's order
  std::string listed() const;       ///< of these, at least one: "blanks and a semicolon"
};
OpcodeText opcode_in(std::string_view text);
/// The same of a name of SASS, which has capitals: "small letters".
OpcodeText machine_name_in(std::string_view text);
/// Whether `name` begins as SASS's name of a warpgroup's product: HGMMA, QGMMA and others. wgmma.cpp.
bool is_wgmma_sass(std::string_view name);

}  // namespace warpmat
