#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <warpmat/numeric/canonical_nan.h>
#include <warpmat/scalar/kernel.h>

// Floating-point arithmetic of one lane in f32 and f64 (PTX ISA 9.1 section 9.7.3). The CPU rounds by its mode, which the kernels set.
// NVIDIA's own rules cover NaN, .ftz and .sat.

namespace warpmat::scalar {

/// The layout of a floating-point type: `Bits` holds a value's code.
template <typename T>
struct FloatBits;
template <>
struct FloatBits<float> {
  using Bits = std::uint32_t;
  using Signed = std::int32_t;
  static constexpr Bits infinity = 0x7f800000, smallest_normal = 0x00800000, sign = 0x80000000, nan = canonical_f32_nan;
};
template <>
struct FloatBits<double> {
  using Bits = std::uint64_t;
  using Signed = std::int64_t;
  static constexpr Bits infinity = 0x7ff0000000000000, smallest_normal = 0x0010000000000000, sign = 0x8000000000000000,
                        nan = 0xfff8000000000000;
};

template <typename T>
using Bits = typename FloatBits<T>::Bits;

template <typename T>
constexpr Bits<T> magnitude(T x) {
  return std::bit_cast<Bits<T>>(x) & static_cast<Bits<T>>(~FloatBits<T>::sign);
}

template <typename T>
constexpr bool is_nan(T x) {
  return magnitude(x) > FloatBits<T>::infinity;
}

/// Replaces a subnormal number by a zero of its sign.
template <typename T>
constexpr T flush(T x) {
  const auto bits = std::bit_cast<Bits<T>>(x);
  return std::bit_cast<T>(magnitude(x) < FloatBits<T>::smallest_normal ? bits & FloatBits<T>::sign : bits);
}

/// .sat: clamps to [+0, 1]; NaN becomes +0.
template <typename T>
constexpr T saturate_to_one(T x) {
  return x > T{0} ? (x < T{1} ? x : T{1}) : T{0};
}

template <typename T>
constexpr T quiet(T nan) {
  return std::bit_cast<T>(std::bit_cast<Bits<T>>(nan) | FloatBits<T>::smallest_normal >> 1);
}

/// The f64 rule for NaN: the first NaN source, made quiet; without one, the default NaN [H200].
constexpr double propagate(double result, std::initializer_list<double> sources_by_rank) {
  double nan = std::bit_cast<double>(FloatBits<double>::nan);
  for (auto source = sources_by_rank.end(); source != sources_by_rank.begin();)
    if (--source; is_nan(*source)) nan = quiet(*source);
  return is_nan(result) ? nan : result;
}

// f32 operations return the canonical NaN whatever the sources; f64 operations keep one source.
constexpr float with_nan(float result, std::initializer_list<float>) {
  return is_nan(result) ? std::bit_cast<float>(FloatBits<float>::nan) : result;
}
constexpr double with_nan(double result, std::initializer_list<double> sources_by_rank) {
  return propagate(result, sources_by_rank);
}

template <typename T>
T float_add(T a, T b) {
  return with_nan(a + b, {b, a});
}
template <typename T>
T float_subtract(T a, T b) {
  return with_nan(a - b, {b, a});
}
template <typename T>
T float_multiply(T a, T b) {
  return with_nan(a * b, {b, a});
}
/// a * b * 2^exponent, rounded once: FMUL with a scale. The exponent, from -3 to 3, goes to the factor whose product with its power is
/// exact; where neither is, a * b is far below or above all numbers.
template <int exponent>
float float_multiply_scaled(float a, float b) {
  constexpr float scale = exponent < 0 ? 1.0F / static_cast<float>(1 << -exponent) : static_cast<float>(1 << exponent);
  const bool a_is_larger = std::abs(a) >= std::abs(b);
  return with_nan(a_is_larger == (exponent < 0) ? (a * scale) * b : a * (b * scale), {b, a});
}
template <typename T>
T float_multiply_add(T a, T b, T c) {
  return with_nan(std::fma(a, b, c), {b, c, a});
}
template <typename T>
T float_divide(T a, T b) {
  return with_nan(a / b, {a, b});
}
template <typename T>
T float_reciprocal(T a) {
  return with_nan(T{1} / a, {a});
}
template <typename T>
T float_square_root(T a) {
  return with_nan(std::sqrt(a), {a});
}

/// f32x2: two f32 in a 64-bit register.
struct FloatPair {
  float low, high;
};

template <auto f, typename... Pair>
FloatPair on_pair(Pair... x) {
  return {f(x.low...), f(x.high...)};
}

// ---- Signs and order: no rounding -----------------------------------------------------------------------------------------------------

/// The sign of a, the rest of b.
template <typename B>
constexpr B copy_sign(B a, B b) {
  constexpr auto sign = static_cast<B>(B{1} << (sizeof(B) * 8 - 1));
  return static_cast<B>((a & sign) | (b & ~sign));
}

/// min and max of floating-point codes of any format with an infinity. B is an unsigned integer; NaNs have magnitudes above `infinity`.
template <typename B, B infinity, B smallest_normal, B canonical_nan>
struct Order {
  using S = std::make_signed_t<B>;
  static constexpr int bits = std::numeric_limits<B>::digits;
  static constexpr B sign = B{1} << (bits - 1);

  /// Maps codes to signed integers of the same order, -0 below +0. It is its own inverse.
  static constexpr B rank(B x) { return x ^ (static_cast<B>(static_cast<S>(x) >> (bits - 1)) & ~sign); }

  /// The rank of a source, flushed and without its sign if the modifiers say so. A NaN gets the sign that makes it lose against every
  /// number, or win with .NaN.
  template <bool smaller>
  static constexpr S rank_of_source(B x, const Modifiers& m) {
    const B flushed_below = m.ftz ? smallest_normal : 0, kept = m.absolute ? ~sign : ~B{0}, nan_sign = smaller == m.nan ? sign : 0;
    const B magnitude = x & ~sign;
    const B number = (magnitude < flushed_below ? x & sign : x) & kept;
    return static_cast<S>(rank(magnitude > infinity ? magnitude | nan_sign : number));
  }

  template <bool smaller>
  static constexpr B pick(B a, B b, const Modifiers& m) {
    const S x = rank_of_source<smaller>(a, m), y = rank_of_source<smaller>(b, m);
    const B picked = rank(static_cast<B>(smaller ? std::min(x, y) : std::max(x, y)));
    const B kept = m.xor_sign ? ~sign : ~B{0}, signs = (a ^ b) & (m.xor_sign ? sign : 0);
    return (picked & ~sign) > infinity ? canonical_nan : (picked & kept) | signs;
  }

  template <bool smaller>
  static constexpr B pick3(B a, B b, B c, const Modifiers& m) {
    return pick<smaller>(pick<smaller>(a, b, m), c, m);
  }
};

using OrderF32 = Order<std::uint32_t, 0x7f800000, 0x00800000, canonical_f32_nan>;
using OrderF64 = Order<std::uint64_t, 0x7ff0000000000000, 0x0010000000000000, 0x7fffffffffffffff>;

/// neg and abs are additions on the hardware: a NaN becomes the canonical one in f32, and keeps its sign in f64 [H200].
template <typename T>
constexpr T float_negate(T a) {
  return is_nan(a) ? with_nan(a, {a}) : -a;
}
template <typename T>
constexpr T float_absolute(T a) {
  return is_nan(a) ? with_nan(a, {a}) : std::bit_cast<T>(magnitude(a));
}

constexpr float negate_f32(float a, const Modifiers& m) {
  return float_negate(m.ftz ? flush(a) : a);
}
constexpr float absolute_f32(float a, const Modifiers& m) {
  return float_absolute(m.ftz ? flush(a) : a);
}

/// min and max in f64: of two NaNs the second, made quiet [H200].
template <bool smaller>
constexpr double pick_f64(double a, double b, const Modifiers& m) {
  const double picked = std::bit_cast<double>(OrderF64::pick<smaller>(std::bit_cast<std::uint64_t>(a), std::bit_cast<std::uint64_t>(b), m));
  return is_nan(picked) ? quiet(b) : picked;
}

// ---- testp (PTX ISA 9.1 section 9.7.3.1)

template <typename T>
constexpr bool test_finite(T a) {
  return magnitude(a) < FloatBits<T>::infinity;
}
template <typename T>
constexpr bool test_infinite(T a) {
  return magnitude(a) == FloatBits<T>::infinity;
}
template <typename T>
constexpr bool test_number(T a) {
  return !is_nan(a);
}
template <typename T>
constexpr bool test_not_a_number(T a) {
  return is_nan(a);
}
/// Zeros count as normal.
template <typename T>
constexpr bool test_normal(T a) {
  return test_finite(a) && (magnitude(a) == 0 || magnitude(a) >= FloatBits<T>::smallest_normal);
}
template <typename T>
constexpr bool test_subnormal(T a) {
  return magnitude(a) != 0 && magnitude(a) < FloatBits<T>::smallest_normal;
}

}  // namespace warpmat::scalar
