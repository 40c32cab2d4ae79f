#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include <warpmat/export.h>

namespace warpmat {

/// The number formats of the warp matrix instructions, spelled as PTX spells them
/// (PTX ISA 9.1, section 5.2.3 "Alternate Floating-Point Data Formats" and 9.7.14.2).
enum class Format : std::uint8_t {
  f64,
  f32,
  tf32,
  bf16,
  f16,
  e4m3,
  e5m2,
  e3m2,
  e2m3,
  e2m1,
  ue8m0,
  ue4m3,
  s32,
  s8,
  u8,
  s4,
  u4,
  b1,
};

/// What the largest exponent codes of a floating-point format mean.
enum class Specials : std::uint8_t {
  ieee,     ///< all-ones exponent: infinity (fraction 0) and NaN (any other fraction)
  one_nan,  ///< all-ones exponent and fraction: NaN; no infinity; e.g. e4m3 0x7F
  none,     ///< every code is a finite number; e.g. e2m1
};

/// One format. Bias, smallest exponent and largest code follow from these columns.
struct FormatRow {
  Format format;
  std::string_view name;  ///< PTX's spelling without the dot: "e4m3"
  int bits;               ///< bits of one element in a register; tf32 fills 32
  bool is_signed;
  int exponent_bits;     ///< 0: an integer
  int fraction_bits;     ///< stored fraction bits; 0 for integers
  int ignored_low_bits;  ///< low bits of the element that the hardware drops on reading (tf32: 13)
  Specials specials;
  bool has_zero;  ///< false for ue8m0, whose code 0 is 2^-127
};

/// All formats, in the order of `Format`.
[[nodiscard]] WARPMAT_API std::span<const FormatRow> format_rows();

/// The row of `format`.
[[nodiscard]] WARPMAT_API const FormatRow& row(Format format);

/// PTX's spelling of `format`, without the dot.
inline std::string_view name(Format format) {
  return row(format).name;
}

/// The format that PTX spells `name`, or nullptr.
[[nodiscard]] WARPMAT_API const FormatRow* find_format(std::string_view name);

inline bool is_integer(const FormatRow& f) {
  return f.exponent_bits == 0;
}

/// The bias of the stored exponent: 2^(exponent_bits - 1) - 1 in every format.
inline int bias(const FormatRow& f) {
  return (1 << (f.exponent_bits - 1)) - 1;
}

/// The exponent of subnormal numbers and of the smallest normal one.
inline int min_exponent(const FormatRow& f) {
  return (f.has_zero ? 1 : 0) - bias(f);
}

/// The exponent of the largest finite number. Infinities use the all-ones exponent (ieee); so does the only NaN of a format without
/// fraction bits (ue8m0).
inline int max_exponent(const FormatRow& f) {
  const bool top_is_special = f.specials == Specials::ieee || f.fraction_bits == 0;
  return (1 << f.exponent_bits) - (top_is_special ? 2 : 1) - bias(f);
}

}  // namespace warpmat
