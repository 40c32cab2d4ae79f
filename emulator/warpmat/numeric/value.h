#pragma once

#include <cstdint>

#include <warpmat/export.h>
#include <warpmat/numeric/format.h>

namespace warpmat {

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
