#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include <warpmat/numeric/canonical_nan.h>
#include <warpmat/scalar/floating.h>

// Arithmetic of one lane in f16 and bf16 (PTX ISA 9.1 section 9.7.4): both widen to f32 exactly. A sum, difference or product is rounded to
// f32 and then to the half. That equals a single rounding because 24 >= 2 * 11 + 2. fma is rounded to odd first (half.cpp).

namespace warpmat::scalar {

struct F16 {
  std::uint16_t bits;
  static constexpr std::uint16_t infinity = 0x7c00, smallest_normal = 0x0400, one = 0x3c00;
};
struct Bf16 {
  std::uint16_t bits;
  static constexpr std::uint16_t infinity = 0x7f80, smallest_normal = 0x0080, one = 0x3f80;
};

inline constexpr std::uint16_t half_sign = 0x8000, half_nan = canonical_half_nan;

// Codes are in the lower 16 bits of a word, so that loops over words are vectorised.

template <typename H>
constexpr float widen_code(std::uint32_t code);

template <>
constexpr float widen_code<Bf16>(std::uint32_t code) {
  return std::bit_cast<float>(code << 16);
}

/// Adds 112 to the exponent's bias. A subnormal number is 2^-14 plus its fraction, minus 2^-14. So no operand is subnormal in f32, which
/// would be slow. NaN keeps its fraction.
template <>
constexpr float widen_code<F16>(std::uint32_t code) {
  constexpr std::uint32_t smallest_normal = std::uint32_t{F16::smallest_normal} << 13, infinity = std::uint32_t{F16::infinity} << 13;
  const std::uint32_t magnitude = (code & 0x7fff) << 13, larger = magnitude + (112 << 23);
  const float above = std::bit_cast<float>(larger + smallest_normal) - 0x1p-14f;
  const std::uint32_t subnormal = std::bit_cast<std::uint32_t>(above) & 0x7fffffff;  // the CPU's rounding decides a zero's sign
  const std::uint32_t number = magnitude < smallest_normal ? subnormal : larger;
  return std::bit_cast<float>((magnitude >= infinity ? magnitude | 0x7f800000 : number) | (code & 0x8000) << 16);
}

constexpr float widen(F16 x) {
  return widen_code<F16>(x.bits);
}
constexpr float widen(Bf16 x) {
  return widen_code<Bf16>(x.bits);
}

/// Rounds to nearest, ties to even; every NaN becomes the canonical one.
template <typename H>
constexpr std::uint32_t narrow_code(float x);

template <>
constexpr std::uint32_t narrow_code<Bf16>(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  return (bits & 0x7fffffff) > 0x7f800000 ? half_nan : rounded;
}

template <>
constexpr std::uint32_t narrow_code<F16>(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t absolute = bits & 0x7fffffff;
  // In f16's normal range the last bit is f32's bit 13 and the bias is smaller by 112.
  const std::uint32_t normal = (absolute + 0xfff + (absolute >> 13 & 1) - (112u << 23)) >> 13;
  // Below that range the last bit is 2^-24: that of f32 numbers between 0.5 and 1.
  const std::uint32_t subnormal = std::bit_cast<std::uint32_t>(std::bit_cast<float>(absolute) + 0.5f) - std::bit_cast<std::uint32_t>(0.5f);
  constexpr std::uint32_t smallest_normal = (127 - 14) << 23, overflow = 0x477ff000;  // 65520 and more are infinite
  std::uint32_t code = absolute < smallest_normal ? subnormal : normal;
  code = absolute >= overflow ? F16::infinity : code;
  code |= bits >> 16 & 0x8000;
  return absolute > 0x7f800000 ? half_nan : code;
}

template <typename H>
constexpr H narrow(float x) {
  return {static_cast<std::uint16_t>(narrow_code<H>(x))};
}

/// Replaces a subnormal number by a zero of its sign.
template <typename H>
constexpr std::uint32_t flush_code(std::uint32_t code) {
  return (code & 0x7fff) < H::smallest_normal ? code & half_sign : code;
}

template <typename H>
constexpr H flush(H x) requires(sizeof(H) == 2) {
  return {static_cast<std::uint16_t>(flush_code<H>(x.bits))};
}

/// .ftz flushes results of a smaller magnitude: rounding them to f16's 11 bits with an unbounded exponent does not reach 2^-14 [H200].
inline constexpr float min_unflushed_f16 = 0x1p-14f * (1 - 0x1p-12f);

/// Whether a statement has none of .ftz, .sat and .relu. This is the common case.
constexpr bool is_plain(const Modifiers& m) {
  return !m.ftz && !m.saturate && !m.relu;
}

/// .ftz, .sat and .relu as numbers to compare codes with. The compiler does not vectorise loops that test flags.
template <typename H>
struct HalfModifiers {
  std::uint32_t flushed_below = 0;         ///< a source of a smaller magnitude becomes a zero
  std::uint32_t flushed_result_below = 0;  ///< the same for a result, as the f32 before rounding
  std::uint32_t cleared_by_sign = 0;       ///< the bits that a negative result loses
  std::uint32_t zero_above = 0xffff;       ///< a result above this becomes +0: NaNs
  std::uint32_t largest = 0xffff;          ///< upper bound of the other results

  explicit constexpr HalfModifiers(const Modifiers& m) {
    if (m.ftz) flushed_below = H::smallest_normal, flushed_result_below = magnitude(min_unflushed_f16);
    if (m.relu || m.saturate) cleared_by_sign = 0xffff;
    if (m.saturate) zero_above = H::infinity, largest = H::one;
  }
};

/// A source's value, flushed by .ftz unless `plain`.
template <typename H, bool plain>
constexpr float half_source(std::uint32_t code, const HalfModifiers<H>& m) {
  if constexpr (plain) return widen_code<H>(code);
  return widen_code<H>((code & 0x7fff) < m.flushed_below ? code & half_sign : code);
}

/// Applies .ftz (f16 only), .sat and .relu to a result. `exact` may have been rounded to odd.
template <typename H, bool plain>
[[gnu::always_inline]] constexpr std::uint32_t half_result(float exact, const HalfModifiers<H>& m) {
  std::uint32_t code = narrow_code<H>(exact);
  if constexpr (plain) return code;
  code = magnitude(exact) < m.flushed_result_below ? code & half_sign : code;
  code &= ~(m.cleared_by_sign & (0 - (code >> 15)));  // NaN is positive
  return code > m.zero_above ? 0 : std::min(code, m.largest);
}

/// Sign changes: every NaN becomes the canonical NaN, as in additions [H200].
template <typename H>
constexpr std::uint32_t half_negate(std::uint32_t a, bool ftz) {
  const std::uint32_t x = ftz ? flush_code<H>(a) : a;
  return (a & 0x7fff) > H::infinity ? half_nan : x ^ half_sign;
}
template <typename H>
constexpr std::uint32_t half_absolute(std::uint32_t a, bool ftz) {
  const std::uint32_t x = ftz ? flush_code<H>(a) : a;
  return (a & 0x7fff) > H::infinity ? half_nan : x & 0x7fff;
}

/// min and max, computed in the upper half of a word: words have the same order.
template <typename H>
using HalfOrder =
    Order<std::uint32_t, std::uint32_t{H::infinity} << 16, std::uint32_t{H::smallest_normal} << 16, std::uint32_t{half_nan} << 16>;

template <typename H, bool smaller>
constexpr std::uint32_t half_pick(std::uint32_t a, std::uint32_t b, const Modifiers& m) {
  return HalfOrder<H>::template pick<smaller>(a << 16, b << 16, m) >> 16;
}

}  // namespace warpmat::scalar
