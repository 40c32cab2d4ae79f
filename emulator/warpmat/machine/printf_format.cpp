// Formats of printf, as CUDA's host library reads them (CUDA C++ Programming Guide, "Formatted Output").

#include <warpmat/machine/printf_format.h>

#include <algorithm>
#include <bit>
#include <cstdio>

namespace warpmat::machine {
namespace {

constexpr std::int64_t largest_number = std::int64_t{1} << 32;  // greater ones count as this

/// The digits at `format[at]`, which then is the place behind them; nothing if there are none.
std::optional<std::int64_t> read_number(std::string_view format, std::size_t& at) {
  std::optional<std::int64_t> number;
  for (; at < format.size() && format[at] >= '0' && format[at] <= '9'; ++at)
    number = std::min(10 * number.value_or(0) + (format[at] - '0'), largest_number);
  return number;
}

std::string_view read_all(std::string_view format, std::size_t& at, std::string_view characters) {
  const std::size_t first = at;
  at = std::min(format.find_first_not_of(characters, at), format.size());
  return format.substr(first, at - first);
}

template <typename Value>
std::string print(const std::string& format, Value value) {
  const int size = std::snprintf(nullptr, 0, format.c_str(), value);
  if (size < 0) return {};
  std::string text(static_cast<std::size_t>(size) + 1, '\0');
  std::snprintf(text.data(), text.size(), format.c_str(), value);
  text.pop_back();
  return text;
}

}  // namespace

std::size_t Conversion::bytes() const {
  if (is_integer()) return length.starts_with('l') ? 8 : 4;
  if (is_floating() || letter == 'p' || letter == 's') return 8;
  return letter == 'c' ? 4 : 0;
}

std::string Conversion::for_value(std::string_view type) const {
  std::string format = "%" + flags;
  if (width != 0) format += std::to_string(width);
  if (precision) format += "." + std::to_string(*precision);
  return format.append(type) += letter;
}

Conversion read_conversion(std::string_view format, std::size_t at, const std::function<std::int32_t()>& take) {
  const std::size_t first = at++;
  Conversion c;
  c.flags = read_all(format, at, "-+ #0");
  const auto number = [&]() -> std::optional<std::int64_t> {
    if (at >= format.size() || format[at] != '*') return read_number(format, at);
    ++at;
    return take();
  };
  c.width = number().value_or(0);
  if (c.width < 0) {  // of a '*': the flag '-' and a width
    c.flags += '-';
    c.width = -c.width;
  }
  if (at < format.size() && format[at] == '.') {
    ++at;
    c.precision = number().value_or(0);
    if (*c.precision < 0) c.precision.reset();  // of a '*': as if there were none
  }
  c.length = read_all(format, at, "hl");  // %zu is printed as it stands, as by an H200
  if (at < format.size()) c.letter = format[at++];
  c.text = format.substr(first, at - first);
  return c;
}

std::string formatted(const Conversion& c, std::uint64_t bits) {
  const bool is_signed = c.letter == 'd' || c.letter == 'i';
  if (c.is_floating()) return print(c.for_value(""), std::bit_cast<double>(bits));
  if (c.letter == 'p') return print(c.for_value(""), reinterpret_cast<void*>(bits));
  if (c.bytes() == 8)
    return is_signed ? print(c.for_value("ll"), static_cast<long long>(bits))
                     : print(c.for_value("ll"), static_cast<unsigned long long>(bits));
  if (c.letter == 'c') return print(c.for_value(""), static_cast<int>(bits));
  const std::string_view type = c.length == "h" || c.length == "hh" ? c.length : "";
  return is_signed ? print(c.for_value(type), static_cast<int>(bits)) : print(c.for_value(type), static_cast<unsigned>(bits));
}

}  // namespace warpmat::machine
