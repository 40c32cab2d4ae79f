#pragma once

#include <bit>
#include <cstdint>

#include <warpmat/numeric/canonical_nan.h>
#include <warpmat/numeric/multi_function_tables.h>

namespace warpmat::multi_function {

// The multi-function unit (machine instruction MUFU): one operand in, an approximation of 1/x, 1/sqrt(x), sqrt(x), 2^x, log2(x), sin, cos
// or tanh out. The .approx and .full instructions of PTX are this unit with a few exact operations around it (scalar/approximate.h).
//
// The unit does the same for all functions:
//
//   reduce       the operand becomes the number of a table row and 17 bits x: the fraction within the row's segment
//   square       S = the upper 15 of the 34 bits of x · x, from the partial products whose weight is at least 2^19: see truncated_square
//   sum          c0 + c1 · x + c2 · S, exactly; c0, c1 and c2 are integers of the row, each with a unit of the function
//                (Interpolation), and `rounding` is a constant that is added to every sum of a function
//   normalise    the sum's 24 leading bits are the result's significand; lower bits are dropped, not rounded
//
// The reductions:
//
//   rcp          64 ... 127 = the operand's first 7 fraction bits choose the row; x is the other 16 bits, and a zero
//   rsq, sqrt    whether the exponent is odd and the first 6 fraction bits choose the row; rsq of an even power of two is exact
//   ex2          the operand is truncated toward zero to multiples of 2^-23; a negative one with a fraction is then complemented, bit for
//                bit, rather than negated. 6 bits of the fraction choose the row, 17 are x; the whole part is the result's exponent
//   lg2          6 fraction bits choose the row; the exponent is added to the sum, the whole is truncated to multiples of 2^-36 and, where
//                negative, complemented. lg2(1) is exact
//   sin, cos     the operand is in units of 2·pi: truncated toward zero to multiples of 2^-25; the first 2 of the 25 fraction bits
//                are the quadrant. cos is one quadrant ahead; in the second and fourth quadrant the 23 other bits are complemented;
//                sin handles the operand's sign separately
//   tanh         below 2^-8 the operand itself; from 2^-8 to 8 every binade has between 1 and 16 segments; from 8 on 1
//
// Subnormal operands are treated as zeros, except by tanh. Results below 2^-126 become zeros with the sign of the exact result. Every NaN
// is 0x7fffffff. In the f16 and bf16 modes the operand is widened and the f32 result truncated to the format; a result beyond f16's range
// is infinity. For f64 (rcp64h, rsq64h) the unit reads and writes the upper word: 20 fraction bits in and out.
//
// Sources: Oberman and Siu ("A high-performance area-efficient multifunction interpolator", 2005) describe such a unit, with 7 index bits
// for the reciprocal and 6 elsewhere, and with the widths of c0, c1 and c2 used here. The rows, the squarer, the constants and the
// reductions were fitted to the answers of an H200: for each segment exactly one triple (c0, c1, c2) in those units gives all of its
// answers. docs/reference/numerics.md, "The multi-function unit", describes the fit and the comparison. Other GPUs were not compared.

inline constexpr std::uint32_t sign_bit = 0x80000000;
inline constexpr std::uint32_t infinity = 0x7f800000;
inline constexpr std::uint32_t nan = canonical_f32_nan;  ///< the NaN result of every f32 function
inline constexpr std::uint32_t one = 0x3f800000;
inline constexpr int bias = 127;
inline constexpr int fraction_bits = 23;

inline constexpr int segment_bits = 17;  ///< bits of x
inline constexpr int sum_unit = -40;     ///< the unit of a sum is 2^-40

/// The parts of an f32 code.
struct Parts {
  std::uint32_t sign;
  int exponent;  ///< as stored: 0 for zeros and subnormals, 255 for infinities and NaNs
  std::uint32_t fraction;

  explicit constexpr Parts(std::uint32_t a)
      : sign(a & sign_bit), exponent(static_cast<int>(a >> fraction_bits & 255)), fraction(a & ((1U << fraction_bits) - 1)) {}
  constexpr bool is_zero() const { return exponent == 0; }  ///< true for subnormals too
  constexpr bool is_infinite() const { return exponent == 255 && fraction == 0; }
  constexpr bool is_nan() const { return exponent == 255 && fraction != 0; }
  constexpr std::uint32_t significand() const { return fraction | 1U << fraction_bits; }
};

/// The unit's squarer: x · x / 2^19 for x < 2^17, from the partial products that it has. Bits i > j of x contribute x_i · x_j · 2^(i+j+1),
/// a single bit x_i · 2^(2i). The squarer lacks partial products of weight below 2^19.
constexpr std::uint32_t truncated_square(std::uint32_t x) {
  std::uint32_t sum = 0;
  for (unsigned i = 10; i < segment_bits; ++i) {
    const std::uint32_t products = ((x & ((1U << i) - 1)) >> (18 - i)) + (1U << (2 * i - 19));
    sum += products & (0U - (x >> i & 1));
  }
  return sum;
}

/// The interpolated value in units of 2^sum_unit. x is in [0, 2^17).
constexpr std::int64_t interpolate(const Interpolation& f, const Segment& row, std::uint32_t x) {
  const std::int64_t linear = static_cast<std::int64_t>(row.c1) * x;
  const std::int64_t square = static_cast<std::int64_t>(row.c2) * truncated_square(x);
  return (static_cast<std::int64_t>(row.c0) << f.c0_shift) + (linear << f.c1_shift) + (square << f.c2_shift) + f.rounding;
}

/// magnitude · 2^unit as f32, toward zero; zero below 2^-126, infinity from 2^128 on.
constexpr std::uint32_t normalise(std::uint32_t sign, std::uint64_t magnitude, int unit) {
  if (magnitude == 0) return sign;
  const int leading = static_cast<int>(std::bit_width(magnitude)) - 1;
  const int exponent = leading + unit + bias;
  if (exponent < 1) return sign;
  if (exponent > 254) return sign | infinity;
  const int down = leading - fraction_bits;
  const auto significand = static_cast<std::uint32_t>(down >= 0 ? magnitude >> down : magnitude << -down);
  return sign + (static_cast<std::uint32_t>(exponent - 1) << fraction_bits) + significand;
}

/// The upper word of magnitude · 2^unit as f64, toward zero; zero below 2^-1022.
constexpr std::uint32_t normalise_upper_word(std::uint32_t sign, std::uint64_t magnitude, int unit) {
  const int leading = static_cast<int>(std::bit_width(magnitude)) - 1;
  const int exponent = leading + unit + 1023;
  if (exponent < 1) return sign;
  return sign + (static_cast<std::uint32_t>(exponent - 1) << 20) + static_cast<std::uint32_t>(magnitude >> (leading - 20));
}

// ---- Sums that depend on the significand alone

/// 1 / (1 + fraction / 2^23).
constexpr std::uint64_t rcp_sum(std::uint32_t fraction) {
  return static_cast<std::uint64_t>(interpolate(rcp_interpolation, rcp_segments[fraction >> 16], (fraction & 0xffff) << 1));
}

constexpr std::uint32_t row_of(std::uint32_t fraction) {
  return fraction >> segment_bits;
}
constexpr std::uint32_t x_of(std::uint32_t fraction) {
  return fraction & ((1U << segment_bits) - 1);
}

/// 1 / sqrt((1 + fraction / 2^23) · 2^odd).
constexpr std::uint64_t rsq_sum(std::uint32_t fraction, std::uint32_t odd) {
  if (fraction == 0 && odd == 0) return std::uint64_t{1} << -sum_unit;
  return static_cast<std::uint64_t>(interpolate(rsq_interpolation, rsq_segments[odd << 6 | row_of(fraction)], x_of(fraction)));
}

// ---- f32 -------------------------------------------------------------------------------------------------------------------------------

constexpr std::uint32_t rcp(std::uint32_t a) {
  const Parts p(a);
  if (p.is_nan()) return nan;
  if (p.is_infinite()) return p.sign;
  if (p.is_zero()) return p.sign | infinity;
  return normalise(p.sign, rcp_sum(p.fraction), sum_unit + bias - p.exponent);
}

constexpr std::uint32_t rsq(std::uint32_t a) {
  const Parts p(a);
  if (p.is_zero()) return p.sign | infinity;
  if (p.is_nan() || p.sign != 0) return nan;
  if (p.is_infinite()) return 0;
  const int exponent = p.exponent - bias;
  return normalise(0, rsq_sum(p.fraction, exponent & 1), sum_unit - (exponent >> 1));
}

constexpr std::uint32_t sqrt(std::uint32_t a) {
  const Parts p(a);
  if (p.is_zero()) return p.sign;
  if (p.is_nan() || p.sign != 0) return nan;
  if (p.is_infinite()) return infinity;
  const int exponent = p.exponent - bias;
  const std::uint32_t row = static_cast<std::uint32_t>(exponent & 1) << 6 | row_of(p.fraction);
  const std::int64_t sum = interpolate(sqrt_interpolation, sqrt_segments[row], x_of(p.fraction));
  return normalise(0, static_cast<std::uint64_t>(sum), sum_unit + (exponent >> 1));
}

/// significand · 2^(exponent - bias - 23) in units of 2^-bits, toward zero, modulo 2^31 units.
constexpr std::uint32_t fixed_point(const Parts& p, int bits) {
  if (p.is_zero()) return 0;
  const int up = p.exponent - bias - fraction_bits + bits;
  if (up >= 31 || up <= -31) return 0;
  return (up >= 0 ? p.significand() << up : p.significand() >> -up) & 0x7fffffff;
}

constexpr std::uint32_t ex2(std::uint32_t a) {
  const Parts p(a);
  if (p.is_nan()) return nan;
  if (p.exponent >= bias + 7) return p.sign != 0 ? 0 : infinity;  // from 128 on
  const std::uint32_t fixed = fixed_point(p, fraction_bits);
  int whole = static_cast<int>(fixed >> fraction_bits);
  std::uint32_t fraction = fixed & ((1U << fraction_bits) - 1);
  if (p.sign != 0) {
    whole = fraction == 0 ? -whole : -whole - 1;
    if (fraction != 0) fraction ^= (1U << fraction_bits) - 1;
  }
  const std::int64_t sum = interpolate(ex2_interpolation, ex2_segments[row_of(fraction)], x_of(fraction));
  return normalise(0, static_cast<std::uint64_t>(sum), sum_unit + whole);
}

constexpr std::uint32_t lg2(std::uint32_t a) {
  const Parts p(a);
  if (p.is_zero()) return sign_bit | infinity;
  if (p.is_nan() || p.sign != 0) return nan;
  if (p.is_infinite()) return infinity;
  if (a == one) return 0;
  constexpr int dropped_bits = 4;
  const std::int64_t fraction = interpolate(lg2_interpolation, lg2_segments[row_of(p.fraction)], x_of(p.fraction));
  const std::int64_t sum = (static_cast<std::int64_t>(p.exponent - bias) * (std::int64_t{1} << -sum_unit) + fraction) >> dropped_bits;
  const std::uint32_t sign = sum < 0 ? sign_bit : 0;
  return normalise(sign, static_cast<std::uint64_t>(sum < 0 ? ~sum : sum), sum_unit + dropped_bits);
}

/// sin(2·pi · phase / 2^25); the quarter wave's rows give sin(pi / 2 · fraction / 2^23).
constexpr std::uint32_t sine_of_phase(std::uint32_t phase, std::uint32_t sign) {
  const std::uint32_t quadrant = phase >> fraction_bits & 3;
  const std::uint32_t fraction = (phase ^ (0U - (quadrant & 1))) & ((1U << fraction_bits) - 1);
  const std::int64_t sum = interpolate(sin_interpolation, sin_segments[row_of(fraction)], x_of(fraction));
  return normalise(sign ^ (quadrant >> 1) << 31, static_cast<std::uint64_t>(sum), sum_unit);
}

constexpr int phase_bits = 25;

/// sin and cos of 2·pi · a.
constexpr std::uint32_t sin(std::uint32_t a) {
  const Parts p(a);
  return p.exponent == 255 ? nan : sine_of_phase(fixed_point(p, phase_bits), p.sign);
}
constexpr std::uint32_t cos(std::uint32_t a) {
  const Parts p(a);
  return p.exponent == 255 ? nan : sine_of_phase(fixed_point(p, phase_bits) + (1U << fraction_bits), 0);
}

constexpr std::uint32_t tanh(std::uint32_t a) {
  const Parts p(a);
  if (p.is_nan()) return nan;
  const int binade = p.exponent - (bias + first_tanh_exponent);
  if (binade < 0) return a;
  if (binade >= tanh_binade_count) return p.sign | one;
  const TanhBinade& b = tanh_binades[binade];
  const std::uint32_t kept = p.fraction >> b.dropped_bits;
  const std::int64_t sum = interpolate(tanh_interpolation, tanh_segments[b.first_row + row_of(kept)], x_of(kept));
  return normalise(p.sign, static_cast<std::uint64_t>(sum), sum_unit);
}

// ---- The f16 and bf16 modes, and the upper words of f64

/// f16 to f32, exactly.
constexpr std::uint32_t widen_f16(std::uint16_t a) {
  const std::uint32_t sign = static_cast<std::uint32_t>(a & 0x8000) << 16, magnitude = a & 0x7fff;
  if (magnitude >= 0x7c00) return sign | infinity | magnitude << 13;
  return normalise(sign, magnitude < 0x400 ? magnitude : (magnitude & 0x3ff) | 0x400,
                   magnitude < 0x400 ? -24 : static_cast<int>(magnitude >> 10) - 25);
}

/// f32 to f16, toward zero; infinity from 2^16 on.
constexpr std::uint16_t truncate_to_f16(std::uint32_t a) {
  const Parts p(a);
  const auto sign = static_cast<std::uint16_t>(p.sign >> 16);
  if (p.is_nan()) return canonical_half_nan;
  const int exponent = p.exponent - bias;
  if (exponent >= 16) return sign | 0x7c00;
  if (exponent >= -14)
    return static_cast<std::uint16_t>(sign + (static_cast<std::uint32_t>(exponent + 14) << 10) + (p.significand() >> 13));
  return exponent < -24 ? sign : static_cast<std::uint16_t>(sign | p.significand() >> (-1 - exponent));
}

constexpr std::uint16_t ex2_f16(std::uint16_t a) {
  return truncate_to_f16(ex2(widen_f16(a)));
}
constexpr std::uint16_t tanh_f16(std::uint16_t a) {
  return truncate_to_f16(tanh(widen_f16(a)));
}
constexpr std::uint16_t ex2_bf16(std::uint16_t a) {
  return static_cast<std::uint16_t>(ex2(static_cast<std::uint32_t>(a) << 16) >> 16);
}
constexpr std::uint16_t tanh_bf16(std::uint16_t a) {
  return static_cast<std::uint16_t>(tanh(static_cast<std::uint32_t>(a) << 16) >> 16);
}

/// The parts of an f64's upper word.
struct UpperParts {
  std::uint32_t sign;
  int exponent;
  std::uint32_t fraction;  ///< its upper 20 bits, where f32 has its 23

  explicit constexpr UpperParts(std::uint32_t a)
      : sign(a & sign_bit), exponent(static_cast<int>(a >> 20 & 2047)), fraction((a & 0xfffff) << 3) {}
};

inline constexpr std::uint32_t upper_infinity = 0x7ff00000;

constexpr std::uint32_t rcp64h(std::uint32_t a) {
  const UpperParts p(a);
  if (p.exponent == 2047) return p.fraction != 0 ? nan : p.sign;
  if (p.exponent == 0) return p.sign | upper_infinity;
  return normalise_upper_word(p.sign, rcp_sum(p.fraction), sum_unit + 1023 - p.exponent);
}

constexpr std::uint32_t rsq64h(std::uint32_t a) {
  const UpperParts p(a);
  if (p.exponent == 0) return p.sign | upper_infinity;
  if (p.sign != 0 || (p.exponent == 2047 && p.fraction != 0)) return nan;
  if (p.exponent == 2047) return 0;
  const int exponent = p.exponent - 1023;
  return normalise_upper_word(0, rsq_sum(p.fraction, exponent & 1), sum_unit - (exponent >> 1));
}

}  // namespace warpmat::multi_function
