#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include <warpmat/scalar/floating.h>

// Arithmetic of one lane in f16 and bf16 (PTX ISA 9.1 section 9.7.4): both widen to f32 exactly. A sum, difference or product is rounded to
// f32 and then to the half: because 24 >= 2 * 11 + 2, that is the same as rounding once. fma is rounded to odd first (half.cpp).

namespace warpmat::scalar {

struct F16 {
  std::uint16_t bits;
  static constexpr std::uint16_t infinity = 0x7c00, smallest_normal = 0x0400, one = 0x3c00;
};
struct Bf16 {
  std::uint16_t bits;
  static constexpr std::uint16_t infinity = 0x7f80, smallest_normal = 0x0080, one = 0x3f80;
};

inline constexpr std::uint16_t half_sign = 0x8000, half_nan = 0x7fff;

constexpr float widen(Bf16 x) { return std::bit_cast<float>(static_cast<std::uint32_t>(x.bits) << 16); }

/// The exponent's bias grows by 112: a product with 2^112 does that for subnormal numbers too. NaN keeps its fraction.
constexpr float widen(F16 x) {
  const std::uint32_t magnitude = (x.bits & 0x7fffu) << 13;
  const auto scaled = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) * 0x1p112f);
  const std::uint32_t special = magnitude | 0x7f800000;
  return std::bit_cast<float>((magnitude >= std::uint32_t{F16::infinity} << 13 ? special : scaled) | (x.bits & 0x8000u) << 16);
}

/// To the nearest, ties to even; every NaN becomes the canonical one.
template <typename H>
constexpr H narrow(float x);

template <>
constexpr Bf16 narrow<Bf16>(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  return {static_cast<std::uint16_t>(is_nan(x) ? half_nan : rounded)};
}

template <>
constexpr F16 narrow<F16>(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t absolute = bits & 0x7fffffff;
  // A number of f16's normal range: its last bit is f32's 13th, its bias is smaller by 112.
  const std::uint32_t normal = (absolute + 0xfff + (absolute >> 13 & 1) - (112u << 23)) >> 13;
  // Below, the last bit is 2^-24: that of f32 numbers between 0.5 and 1.
  const std::uint32_t subnormal = std::bit_cast<std::uint32_t>(std::bit_cast<float>(absolute) + 0.5f) - std::bit_cast<std::uint32_t>(0.5f);
  constexpr std::uint32_t smallest_normal = (127 - 14) << 23, overflow = 0x477ff000;  // 65520 and more are infinite
  std::uint32_t code = absolute < smallest_normal ? subnormal : normal;
  code = absolute >= overflow ? F16::infinity : code;
  code = absolute > 0x7f800000 ? half_nan : code | (bits >> 16 & 0x8000);
  return {static_cast<std::uint16_t>(code)};
}

template <typename H>
constexpr bool is_nan(H x) requires(sizeof(H) == 2) { return (x.bits & 0x7fff) > H::infinity; }

template <typename H>
constexpr H flush(H x) requires(sizeof(H) == 2) {
  return {static_cast<std::uint16_t>((x.bits & 0x7fff) < H::smallest_normal ? x.bits & half_sign : x.bits)};
}

/// The smallest normal number of H as an f32.
template <typename H>
constexpr float smallest_normal() { return widen(H{H::smallest_normal}); }

/// A result of .ftz, .sat and .relu. What is below the smallest normal number before it is rounded becomes zero, even if it is rounded up to
/// that number [H200].
template <typename H>
constexpr H finish(float exact, const Modifiers& m) {
  H x = narrow<H>(exact);
  if (m.ftz && std::abs(exact) < smallest_normal<H>()) x.bits &= half_sign;
  const bool negative = (x.bits & half_sign) != 0, nan = is_nan(x);
  if (m.saturate) x.bits = nan || negative ? 0 : x.bits > H::one ? H::one : x.bits;
  if (m.relu) x.bits = negative && !nan ? 0 : x.bits;
  return x;
}

template <typename H>
constexpr H source(H x, const Modifiers& m) { return m.ftz ? flush(x) : x; }

template <typename H>
H half_add(H a, H b, const Modifiers& m) { return finish<H>(widen(source(a, m)) + widen(source(b, m)), m); }
template <typename H>
H half_subtract(H a, H b, const Modifiers& m) { return finish<H>(widen(source(a, m)) - widen(source(b, m)), m); }
template <typename H>
H half_multiply(H a, H b, const Modifiers& m) { return finish<H>(widen(source(a, m)) * widen(source(b, m)), m); }

/// Every NaN becomes the canonical one, as in additions [H200].
template <typename H>
constexpr H half_negate(H a, const Modifiers& m) {
  const H x = source(a, m);
  return {static_cast<std::uint16_t>(is_nan(x) ? half_nan : x.bits ^ half_sign)};
}
template <typename H>
constexpr H half_absolute(H a, const Modifiers& m) {
  const H x = source(a, m);
  return {static_cast<std::uint16_t>(is_nan(x) ? half_nan : x.bits & ~half_sign)};
}

template <typename H>
using HalfOrder = Order<std::uint16_t, H::infinity, H::smallest_normal, half_nan>;

template <typename H, bool smaller>
constexpr H half_pick(H a, H b, const Modifiers& m) { return {HalfOrder<H>::template pick<smaller>(a.bits, b.bits, m)}; }

}  // namespace warpmat::scalar
