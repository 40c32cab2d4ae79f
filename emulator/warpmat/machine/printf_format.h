#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace warpmat::machine {

/// One conversion of a format: "%-8.3lf".
struct Conversion {
  std::string_view text;   ///< as it stands in the format
  std::string flags;       ///< of "-+ #0"
  std::int64_t width = 0;  ///< 0: none
  std::optional<std::int64_t> precision;
  std::string_view length;  ///< "ll"
  char letter = 0;          ///< 0: the format ends before

  bool is_integer() const { return letter != 0 && std::string_view("diuxXo").find(letter) != std::string_view::npos; }
  bool is_floating() const { return letter != 0 && std::string_view("fFeEgGaA").find(letter) != std::string_view::npos; }
  /// Of the argument: 0 of letters that are none of a conversion.
  std::size_t bytes() const;
  /// Whether it may print more than `most` characters for its width or precision, which shortens a string.
  bool is_longer_than(std::int64_t most) const { return width > most || (letter != 's' && precision.value_or(0) > most); }
  /// Its form for snprintf(), with the type of the value that it gets: "" for int, "ll".
  std::string for_value(std::string_view type) const;
};

/// Reads the conversion whose % stands at `format[at]`. `take` gives the argument of a '*'.
Conversion read_conversion(std::string_view format, std::size_t at, const std::function<std::int32_t()>& take);

/// The number by a conversion of one, formatted.
std::string formatted(const Conversion& conversion, std::uint64_t bits);

}  // namespace warpmat::machine
