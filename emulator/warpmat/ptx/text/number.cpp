#include <warpmat/ptx/text/number.h>

#include <bit>
#include <charconv>
#include <string>

#include <warpmat/formats.h>

namespace warpmat {
namespace {

using Class = DataType::Class;

std::optional<std::uint64_t> digits(std::string_view text, int base) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool has_prefix(std::string_view text, char letter) {
  return text.size() > 2 && text[0] == '0' && (text[1] | 0x20) == letter;
}

std::optional<std::uint64_t> fit_integer(std::uint64_t value, bool negative, int bits) {
  const std::uint64_t sign = std::uint64_t{1} << (bits - 1);
  const std::uint64_t largest = sign | (sign - 1);
  if (value > (negative ? sign : largest)) return std::nullopt;
  return (negative ? ~value + 1 : value) & largest;
}

/// 0f3F800000 and 0d3FF0000000000000; ptxas does not accept a minus before them.
std::optional<std::uint64_t> parse_pattern(std::string_view text, bool negative, int bits) {
  if (negative) return std::nullopt;
  const bool single = has_prefix(text, 'f');
  if ((!single && !has_prefix(text, 'd')) || bits != (single ? 32 : 64) || text.size() != (single ? 10u : 18u)) return std::nullopt;
  return digits(text.substr(2), 16);
}

std::optional<std::uint64_t> parse_fraction(std::string_view text, bool negative, const DataType& type) {
  if (text.find('.') == std::string_view::npos || type.type_class != Class::floating || type.bits < 32) return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return from_double(type.bits == 32 ? Format::f32 : Format::f64, negative ? -value : value);
}

}  // namespace

std::optional<std::uint64_t> parse_integer(std::string_view text) {
  if (!text.empty() && text.back() == 'U') text.remove_suffix(1);
  if (has_prefix(text, 'x')) return digits(text.substr(2), 16);
  if (has_prefix(text, 'b')) return digits(text.substr(2), 2);
  return digits(text, text.starts_with('0') ? 8 : 10);
}

std::optional<std::uint64_t> parse_number(std::string_view text, bool negative, const DataType& type) {
  const bool may_be_floating = type.type_class == Class::floating || type.type_class == Class::bits;
  if (may_be_floating) {
    if (const auto pattern = parse_pattern(text, negative, type.bits)) return pattern;
    if (const auto fraction = parse_fraction(text, negative, type)) return fraction;
  }
  if (type.is_floating() || type.bits > 64) return std::nullopt;
  const auto integer = parse_integer(text);
  return integer ? fit_integer(*integer, negative, type.bits) : std::nullopt;
}

bool is_floating_number(std::string_view text) {
  return has_prefix(text, 'f') || has_prefix(text, 'd') || text.find('.') != std::string_view::npos;
}

}  // namespace warpmat
