#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

namespace warpmat {

/// fmt::vformat, used by format_text.
[[nodiscard]] std::string format_text_of(fmt::string_view format, fmt::format_args values);

/// fmt::format by {fmt}'s core header alone. One file of the core compiles the rest, instead of every file with a message.
template <typename... T>
[[nodiscard]] std::string format_text(fmt::format_string<T...> format, T&&... values) {
  return format_text_of(format, fmt::make_format_args(values...));
}

/// The parts, one after the other: a fraction of the time of format_text, for tables of a thousand rows.
[[nodiscard]] std::string concatenated(std::initializer_list<std::string_view> parts);

/// The items of a range, formatted and separated: "a, b, c". Stands for fmt::join, whose header takes seconds to compile.
template <typename Range>
[[nodiscard]] std::string joined(const Range& items, std::string_view separator) {
  std::string text;
  bool first = true;
  for (const auto& item : items) {
    if (!first) text += separator;
    first = false;
    text += format_text("{}", item);
  }
  return text;
}

/// "a, b, c".
[[nodiscard]] std::string comma_list(const std::vector<std::string_view>& words);

}  // namespace warpmat
