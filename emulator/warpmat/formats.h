#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include <warpmat/version.h>

namespace warpmat {

// ---- Formats ----

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

// ---- Values ----

/// A decoded element: ±significand · 2^(exponent − fraction_bits), or a special.
///
/// `exponent` is that of the format's unit bit. A subnormal keeps the smallest exponent and an unnormalised significand, as the hardware
/// uses it to align products. A NaN keeps its fraction field in `significand`.
struct Value {
  enum class Kind : std::uint8_t { zero, finite, infinity, nan };

  Kind kind;
  bool negative;
  int exponent;
  int fraction_bits;
  std::uint64_t significand;

  static constexpr Value special(Kind kind, bool negative = false) { return {kind, negative, 0, 0, 0}; }

  friend bool operator==(const Value&, const Value&) = default;
};

enum class Rounding : std::uint8_t { nearest_even, toward_zero, down, up };

/// The result of rounding a magnitude beyond the largest finite number.
enum class Overflow : std::uint8_t {
  ieee,      ///< infinity or the largest finite number, depending on the rounding direction
  infinity,  ///< always infinity: the matrix units, also in rounding toward zero [H200]
  saturate,  ///< the largest finite number: PTX's .satfinite
};

/// Decodes the low `row(format).bits` bits of `bits`; higher bits are ignored. Integers come back with exponent 0.
[[nodiscard]] WARPMAT_API Value decode(Format format, std::uint64_t bits);

/// Encodes `value`, rounded to the format. A NaN keeps sign and payload if the format has its fraction width, else it becomes the canonical
/// NaN. A format without NaN and infinity encodes them as its largest number of the same sign.
[[nodiscard]] WARPMAT_API std::uint64_t encode(Format format, const Value& value, Rounding rounding = Rounding::nearest_even,
                                               Overflow overflow = Overflow::ieee);

/// The NaN that the matrix units and PTX's conversions produce: all ones without the sign (f32 0x7FFFFFFF, f16 0x7FFF) [H200].
[[nodiscard]] WARPMAT_API std::uint64_t canonical_nan(Format format);

[[nodiscard]] WARPMAT_API std::uint64_t infinity(Format format, bool negative);
[[nodiscard]] WARPMAT_API std::uint64_t largest_finite(Format format, bool negative);

/// The value of an element as a double: exact for every format but NaN payloads.
[[nodiscard]] WARPMAT_API double to_double(Format format, std::uint64_t bits);

/// The element nearest to `value`, ties to even; beyond the range infinity, or the largest number where the format has none.
[[nodiscard]] WARPMAT_API std::uint64_t from_double(Format format, double value);

}  // namespace warpmat
