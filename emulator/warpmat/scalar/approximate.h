#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include <warpmat/numeric/multi_function.h>
#include <warpmat/scalar/floating.h>

// The .approx and .full instructions of one lane: the multi-function unit and the exact operations that ptxas puts around it (machine code
// of nvcc 13.0, the same for sm_75, sm_80, sm_90, sm_100 and sm_120 [cuobjdump]). With .ftz an instruction is the unit alone: the unit
// treats subnormal operands as zeros. Without .ftz, operands that the unit would flush are scaled into its range, and the result is scaled
// back.
//
// Values are codes (PTX ISA 9.1 sections 9.7.3.8, .13, .15 to .21 and 9.7.4.9, .10).

namespace warpmat::scalar {

/// FMUL: rounded to nearest even. With .ftz a product becomes zero if it is below 2^-126 after rounding to 24 bits with an unbounded
/// exponent [H200].
inline std::uint32_t multiply_codes(std::uint32_t a, std::uint32_t b, bool ftz = false) {
  float x = std::bit_cast<float>(a), y = std::bit_cast<float>(b);
  if (ftz) {
    x = flush(x), y = flush(y);
    const double exact = static_cast<double>(x) * static_cast<double>(y);
    if (std::fabs(static_cast<float>(exact * 0x1p64)) < 0x1p-62F) return (a ^ b) & multi_function::sign_bit;
  }
  return std::bit_cast<std::uint32_t>(float_multiply(x, y));
}

inline std::uint32_t multiply_code(std::uint32_t a, float b, bool ftz = false) {
  return multiply_codes(a, std::bit_cast<std::uint32_t>(b), ftz);
}

/// FMUL.RZ with a factor below 1.
inline std::uint32_t multiply_toward_zero(std::uint32_t a, float b) {
  const double exact = static_cast<double>(std::bit_cast<float>(a)) * static_cast<double>(b);
  const auto nearest = static_cast<float>(exact);
  const auto code = std::bit_cast<std::uint32_t>(with_nan(nearest, {}));
  return std::fabs(static_cast<double>(nearest)) > std::fabs(exact) ? code - 1 : code;
}

constexpr bool is_subnormal_or_zero(std::uint32_t a) {
  return (a & ~multi_function::sign_bit) < FloatBits<float>::smallest_normal;
}

/// True above 2^126: the unit would flush 1/a to zero.
constexpr bool has_small_reciprocal(std::uint32_t a) {
  return (a & ~multi_function::sign_bit) > 0x7e800000 && (a & ~multi_function::sign_bit) <= multi_function::infinity;
}

constexpr float two_to_24 = 0x1p24F;

inline std::uint32_t approximate_ex2(std::uint32_t a, const Modifiers& m) {
  if (m.ftz || !(std::bit_cast<float>(a) < -126.0F)) return multi_function::ex2(a);
  const std::uint32_t root = multi_function::ex2(multiply_code(a, 0.5F));
  return multiply_codes(root, root);
}

inline std::uint32_t approximate_lg2(std::uint32_t a, const Modifiers& m) {
  if (m.ftz || !is_subnormal_or_zero(a)) return multi_function::lg2(a);
  const std::uint32_t scaled = multi_function::lg2(multiply_code(a, two_to_24));
  return std::bit_cast<std::uint32_t>(float_add(std::bit_cast<float>(scaled), -24.0F));
}

inline std::uint32_t approximate_rcp(std::uint32_t a, const Modifiers& m) {
  if (m.ftz) return multi_function::rcp(a);
  const float scale = has_small_reciprocal(a) ? 0.25F : is_subnormal_or_zero(a) ? two_to_24 : 1.0F;
  return multiply_code(multi_function::rcp(multiply_code(a, scale)), scale);
}

inline std::uint32_t approximate_rsqrt(std::uint32_t a, const Modifiers& m) {
  if (m.ftz || !is_subnormal_or_zero(a)) return multi_function::rsq(a);
  return multiply_code(multi_function::rsq(multiply_code(a, two_to_24)), 0x1p12F);
}

inline std::uint32_t approximate_sqrt(std::uint32_t a, const Modifiers& m) {
  if (m.ftz || !is_subnormal_or_zero(a)) return multi_function::sqrt(a);
  return multiply_code(multi_function::sqrt(multiply_code(a, two_to_24)), 0x1p-12F);
}

inline constexpr float turns_per_radian = std::bit_cast<float>(0x3e22f983);

/// Converts radians to units of 2·pi. .ftz has the same machine code: the unit flushes subnormal operands.
inline std::uint32_t turns(std::uint32_t a) {
  return multiply_toward_zero(a, turns_per_radian);
}
inline std::uint32_t approximate_sin(std::uint32_t a) {
  return multi_function::sin(turns(a));
}
inline std::uint32_t approximate_cos(std::uint32_t a) {
  return multi_function::cos(turns(a));
}

inline std::uint32_t approximate_div(std::uint32_t a, std::uint32_t b, const Modifiers& m) {
  if (!m.ftz && is_subnormal_or_zero(b)) a = multiply_code(a, two_to_24), b = multiply_code(b, two_to_24);
  return multiply_codes(a, multi_function::rcp(b), m.ftz);
}

inline std::uint32_t full_div(std::uint32_t a, std::uint32_t b, const Modifiers& m) {
  if (has_small_reciprocal(b)) a = multiply_code(a, 0.25F, m.ftz), b = multiply_code(b, 0.25F, m.ftz);
  return approximate_div(a, b, m);
}

/// A function of an f64's upper word. The lower word is ignored, and zero in the result.
template <std::uint32_t (*f)(std::uint32_t)>
constexpr std::uint64_t of_upper_word(std::uint64_t a) {
  return static_cast<std::uint64_t>(f(static_cast<std::uint32_t>(a >> 32))) << 32;
}

/// a, or if it is subnormal a number 2^54 times as large.
inline double scaled_for_rsqrt(double a) {
  return magnitude(a) < FloatBits<double>::smallest_normal ? a * 0x1p54 : a;
}

/// y, the unit's 1/sqrt(a), refined by one step of a third-order iteration.
inline double refined_rsqrt(double a, double y) {
  const double error = std::fma(a, -(y * y), 1.0);
  return std::fma(std::fma(error, 0.375, 0.5), y * error, y);
}

/// The result from the refined one of scaled_for_rsqrt(a), which is right for positive finite numbers.
inline double rsqrt_of(double a, double refined) {
  constexpr double invalid = std::bit_cast<double>(0xfff8000000000000), infinity = std::bit_cast<double>(FloatBits<double>::infinity);
  double result = magnitude(a) < FloatBits<double>::smallest_normal ? refined * 0x1p27 : refined;
  result = a == infinity ? 0 : result;
  result = a < 0 ? invalid : result;
  result = magnitude(a) == 0 ? std::copysign(infinity, a) : result;
  return is_nan(a) ? quiet(a) : result;
}

inline double approximate_rsqrt_f64(double a) {
  const double scaled = scaled_for_rsqrt(a);
  const auto root = of_upper_word<multi_function::rsq64h>(std::bit_cast<std::uint64_t>(scaled));
  return rsqrt_of(a, refined_rsqrt(scaled, std::bit_cast<double>(root)));
}

}  // namespace warpmat::scalar
