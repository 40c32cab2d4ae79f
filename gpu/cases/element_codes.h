#pragma once

#include <warpmat/formats.h>

#include <algorithm>
#include <cstdint>

#include <warpmat/numeric/low_mask.h>

#include "gpu/cases/random.h"

namespace warpmat {

// Codes of elements, built from the widths of a format's fields; shared by the operand classes.

/// The first bit of the exponent field.
inline int exponent_position(const FormatRow& f) {
  return f.fraction_bits + f.ignored_low_bits;
}

inline std::uint64_t sign_bit(const FormatRow& f) {
  return f.is_signed ? std::uint64_t{1} << (f.bits - 1) : 0;
}

/// The largest exponent field of a finite number; fields begin at 0.
inline int largest_field(const FormatRow& f) {
  return max_exponent(f) + bias(f);
}

/// The element with that exponent field; `bits` supplies sign, fraction and ignored bits. Not a NaN if the field is at most largest_field.
inline std::uint64_t with_field(const FormatRow& f, int field, std::uint64_t bits) {
  const int position = exponent_position(f);
  std::uint64_t code = (bits & (sign_bit(f) | low_mask(position))) | static_cast<std::uint64_t>(field) << position;
  const std::uint64_t magnitude = low_mask(f.exponent_bits + position);
  if (f.specials == Specials::one_nan && (code & magnitude) == magnitude) code ^= std::uint64_t{1} << f.ignored_low_bits;
  return code;
}

/// The exponents of the smallest and the largest power of two; subnormal numbers count.
inline int min_power(const FormatRow& f) {
  return f.has_zero ? min_exponent(f) - f.fraction_bits : min_exponent(f);
}
inline int largest_power(const FormatRow& f) {
  return max_exponent(f);
}

/// 2^exponent without its sign, or the nearest power of two that the format has.
inline std::uint64_t power_of_two(const FormatRow& f, int exponent) {
  const int field = std::min(exponent, largest_power(f)) + bias(f);
  if (field > 0 || !f.has_zero) return static_cast<std::uint64_t>(std::max(field, 0)) << exponent_position(f);
  const int below = std::min(1 - field, f.fraction_bits);  // binades below the smallest normal number
  return std::uint64_t{1} << (exponent_position(f) - below);
}

/// The largest finite number.
inline std::uint64_t largest_number(const FormatRow& f) {
  return with_field(f, largest_field(f), low_mask(exponent_position(f)));
}

/// Positive infinity of a format that has it.
inline std::uint64_t infinity_code(const FormatRow& f) {
  return low_mask(f.exponent_bits) << exponent_position(f);
}

inline std::uint64_t largest_integer(const FormatRow& f) {
  return low_mask(f.bits - (f.is_signed ? 1 : 0));
}
inline std::uint64_t smallest_integer(const FormatRow& f) {
  return f.is_signed ? std::uint64_t{1} << (f.bits - 1) : 0;
}

}  // namespace warpmat
