#pragma once

#include <string>
#include <string_view>

namespace warpmat {

/// `word` as a shell takes it: in quotation marks where it needs them.
inline std::string shell_word(const std::string& word) {
  constexpr std::string_view plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+=./:,@%";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace warpmat
