#pragma once

#include <warpmat/device/tables.h>

namespace warpmat::device {

// Elements as the matrix unit multiplies them, and sums as bits. All in integers, so that no compiler flag about floating point matters.

/// ±significand · 2^(exponent - fraction bits of its format). The exponent also says what is no number: the codes below are so far apart
/// that the exponent of a product, the sum of two, says what the product is.
struct Element {
  i32 significand;
  i32 exponent;
};

// Exponents of numbers, of products and of scale factors are within ±1000. All codes fit into 16 bits.
inline constexpr i32 zero_exponent = -4096;
inline constexpr i32 infinity_exponent = 8192;
inline constexpr i32 nan_exponent = 24576;
// A product is a number below the first; infinity · 0 below the second; infinity below the third; else NaN.
inline constexpr i32 least_special = 2048, least_infinity = 6144, least_nan = 18432;

/// The row of a format, a constant: the tables are none of the device's memory.
template <Format format>
struct RowOf {
  static constexpr FormatRow row = format_rows[static_cast<int>(format)];
};

/// The low bits of `bits` as an element of `format`, which has at most 32 bits.
template <Format format>
WARPMAT_DEVICE_INLINE Element decode(u32 bits) {
  constexpr FormatRow f = RowOf<format>::row;
  constexpr u32 below_sign = static_cast<u32>((u64{1} << (f.exponent_bits + f.fraction_bits + f.ignored_low_bits)) - 1);
  const u32 magnitude = (bits & below_sign) >> f.ignored_low_bits;
  const u32 fraction = magnitude & ((1u << f.fraction_bits) - 1);
  const i32 field = static_cast<i32>(magnitude >> f.fraction_bits);
  i32 significand = static_cast<i32>(fraction), exponent = f.min_exponent();
  if (field != 0 || !f.has_zero) {
    significand |= i32{1} << f.fraction_bits;
    exponent = field - f.bias();
  } else if (fraction == 0) {
    exponent = zero_exponent;
  }
  constexpr i32 top = (1 << f.exponent_bits) - 1;
  if (f.specials == Specials::ieee && field == top) {
    exponent = fraction == 0 ? infinity_exponent : nan_exponent;
    significand = 1;
  }
  if (f.specials == Specials::one_nan && field == top && fraction == (1u << f.fraction_bits) - 1) exponent = nan_exponent;
  const bool negative = f.is_signed && (bits >> (f.bits - 1) & 1) != 0;
  return {negative ? -significand : significand, exponent};
}

/// Leading zeros of a number that is not 0.
WARPMAT_DEVICE_INLINE int leading_zeros(u32 x) {
#if defined(__CUDA_ARCH__)
  return __clz(static_cast<int>(x));
#else
  return __builtin_clz(x);
#endif
}

WARPMAT_DEVICE_INLINE int leading_zeros(u64 x) {
#if defined(__CUDA_ARCH__)
  return __clzll(static_cast<long long>(x));
#else
  return __builtin_clzll(x);
#endif
}

/// x / 2^count, rounded down; count is not negative, and may be 32 and more.
WARPMAT_DEVICE_INLINE u32 shifted_right(u32 x, i32 count) {
#if defined(__CUDA_ARCH__)
  u32 result;
  asm("shr.u32 %0, %1, %2;" : "=r"(result) : "r"(x), "r"(count));  // PTX clamps the count
  return result;
#else
  return count > 31 ? 0 : x >> count;
#endif
}

/// The same; of a 0 the count may be negative.
WARPMAT_DEVICE_INLINE u64 shifted_right(u64 x, i32 count) {
  return static_cast<u32>(count) > 63 ? 0 : x >> count;
}

/// An element of a format with at most 10 fraction bits as one of f16, which is exact: a subnormal becomes a normal number if f16 has it.
template <Format format>
WARPMAT_DEVICE_INLINE Element decode_as_f16(u32 bits) {
  constexpr FormatRow f = RowOf<format>::row, f16 = RowOf<Format::f16>::row;
  Element e = decode<format>(bits);
  if (e.exponent >= least_special || e.significand == 0) return e;
  u32 magnitude = static_cast<u32>(e.significand < 0 ? -e.significand : e.significand) << (f16.fraction_bits - f.fraction_bits);
  const i32 wanted = leading_zeros(magnitude) - (31 - f16.fraction_bits), most = e.exponent - f16.min_exponent();
  const i32 shift = wanted < most ? wanted : most;
  magnitude <<= shift;
  return {e.significand < 0 ? -static_cast<i32>(magnitude) : static_cast<i32>(magnitude), e.exponent - shift};
}

template <Format format>
inline constexpr u32 canonical_nan = (1u << (RowOf<format>::row.exponent_bits + RowOf<format>::row.fraction_bits)) - 1;

template <Format format>
WARPMAT_DEVICE_INLINE u32 infinity(bool negative) {
  constexpr FormatRow f = RowOf<format>::row;
  return (((1u << f.exponent_bits) - 1) << f.fraction_bits) | static_cast<u32>(negative) << (f.bits - 1);
}

/// magnitude · 2^unit_exponent as bits of f32 or f16, without sign: f32 toward zero, f16 to nearest even; too large is infinity.
template <Format format, bool nearest>
WARPMAT_DEVICE_INLINE u32 rounded(u64 magnitude, i32 unit_exponent) {
  constexpr FormatRow f = RowOf<format>::row;
  if (magnitude == 0) return 0;
  const i32 leading = unit_exponent + 63 - leading_zeros(magnitude);
  if (leading > f.max_exponent()) return infinity<format>(false);
  const i32 exponent = leading > f.min_exponent() ? leading : f.min_exponent();
  const i32 drop = exponent - f.fraction_bits - unit_exponent;
  u64 units = drop >= 0 ? shifted_right(magnitude, drop) : magnitude << -drop;
  if (nearest && drop > 0 && drop < 64) {
    const u64 rest = magnitude & ((u64{1} << drop) - 1), half = u64{1} << (drop - 1);
    units += rest > half || (rest == half && (units & 1) != 0);
  }
  // A carry out of the significand goes into the exponent's field, and becomes infinity beyond the largest number.
  return (static_cast<u32>(exponent - f.min_exponent()) << f.fraction_bits) + static_cast<u32>(units);
}

/// A sum in units of 2^unit_exponent as bits of `format`: a sum that is zero or rounds to zero is +0.
template <Format format, int zero_bits>
WARPMAT_DEVICE_INLINE u32 round_sum(i64 sum, i32 unit_exponent) {
  constexpr int sign_bit = RowOf<format>::row.bits - 1;
  const u64 magnitude = static_cast<u64>(sum < 0 ? -sum : sum);
  const u32 kept = rounded<format, format == Format::f16>(magnitude, unit_exponent) >> zero_bits << zero_bits;
  return kept == 0 || sum > 0 ? kept : kept | 1u << sign_bit;
}

/// f16 as f32: exact; a NaN becomes the canonical one.
WARPMAT_DEVICE_INLINE u32 widened(u32 half) {
  const Element e = decode<Format::f16>(half);
  const u32 sign = (half >> 15 & 1) << 31;
  if (e.exponent >= least_nan) return canonical_nan<Format::f32>;
  if (e.exponent >= least_special) return infinity<Format::f32>(sign != 0);
  if (e.significand == 0) return sign;
  return rounded<Format::f32, false>(static_cast<u64>(e.significand < 0 ? -e.significand : e.significand), e.exponent - 10) | sign;
}

/// f32 as f16, to nearest even; a NaN becomes the canonical one.
WARPMAT_DEVICE_INLINE u32 narrowed(u32 single) {
  const Element e = decode<Format::f32>(single);
  const u32 sign = (single >> 31) << 15;
  if (e.exponent >= least_nan) return canonical_nan<Format::f16>;
  if (e.exponent >= least_special) return infinity<Format::f16>(sign != 0);
  return rounded<Format::f16, true>(static_cast<u64>(e.significand < 0 ? -e.significand : e.significand), e.exponent - 23) | sign;
}

template <Format from, Format to>
WARPMAT_DEVICE_INLINE u32 converted(u32 bits) {
  if constexpr (from == to) return bits;
  if constexpr (from == Format::f16 && to == Format::f32) return widened(bits);
  if constexpr (from == Format::f32 && to == Format::f16) return narrowed(bits);
}

}  // namespace warpmat::device
