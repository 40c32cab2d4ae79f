#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace warpmat {

/// The parts of `text` between separators: one more than there are separators.
inline std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t at; (at = text.find(separator)) != std::string_view::npos; text.remove_prefix(at + 1))
    parts.emplace_back(text.substr(0, at));
  parts.emplace_back(text);
  return parts;
}

}  // namespace warpmat
