#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include <warpmat/formats.h>
#include <warpmat/numeric/canonical_nan.h>
#include <warpmat/scalar/floating.h>

// Conversion of one lane to and from floating-point formats of up to 19 bits (PTX ISA 9.1 section 9.7.9.21), all by one rule.

namespace warpmat::scalar {

/// `format` in the form that conversion kernels use. `stride`: bits from one packed element to the next.
SmallFloat small_float(Format format, int stride);

/// A direction of rounding.
template <Rounding rounding>
struct Directed {
  /// Whether a magnitude with the discarded bits `rest` rounds up. `half` is the weight of the highest of the `shift` discarded bits; `odd`
  /// is the last kept bit.
  template <typename B, typename S>
  constexpr bool rounds_up(bool negative, B rest, B half, bool odd, S) const {
    switch (rounding) {
      case Rounding::nearest_even: return rest + static_cast<B>(odd) > half;
      case Rounding::toward_zero: return false;
      case Rounding::down: return negative & (rest != 0);
      case Rounding::up: return !negative & (rest != 0);
    }
    return false;
  }
  /// Whether numbers beyond the largest finite one become that, not infinity.
  constexpr bool stops_at_largest(bool negative) const {
    return (rounding == Rounding::toward_zero) | ((rounding == Rounding::down) & !negative) | ((rounding == Rounding::up) & negative);
  }
};

/// cvt.rs: adds `random`, of `bits` bits, at the top of the discarded bits; a carry rounds up.
struct Stochastic {
  template <typename B, typename S>
  constexpr bool rounds_up(bool, B rest, B half, bool, S shift) const {
    return rest + (static_cast<B>(random) << std::max<S>(shift - static_cast<S>(bits), 0)) >= 2 * half;
  }
  constexpr bool stops_at_largest(bool) const { return false; }

  std::uint32_t random;
  int bits;
};

/// The code of x, of type float or double, in the small format. `how`: Directed or Stochastic. Conditions are joined by & and |, because
/// g++ makes no vectors of loops over branches.
template <typename How, typename T>
constexpr std::uint32_t to_small(How how, T x, const SmallFloat& format, bool finite, bool relu) {
  using B = Bits<T>;
  using S = typename FloatBits<T>::Signed;
  constexpr int fraction = std::countr_zero(FloatBits<T>::smallest_normal);
  constexpr S bias = static_cast<S>((FloatBits<T>::infinity >> fraction) / 2);
  const B absolute = magnitude(x);
  const bool negative = (std::bit_cast<B>(x) & FloatBits<T>::sign) != 0;

  const S field = static_cast<S>(absolute >> fraction);
  const B significand = (absolute & (FloatBits<T>::smallest_normal - 1)) | (field != 0 ? FloatBits<T>::smallest_normal : 0);
  const S above_min = std::max<S>(field, 1) - bias - format.min_exponent;  // the exponent; a negative value makes the result subnormal
  const S shift = std::min<S>(fraction - format.fraction_bits + std::max<S>(-above_min, 0), fraction + 2);
  const B kept = significand >> shift, half = B{1} << (shift - 1), rest = significand & (2 * half - 1);
  const B rounded = kept + static_cast<B>(how.rounds_up(negative, rest, half, (kept & 1) != 0, shift));

  B code = rounded + (static_cast<B>(std::max<S>(above_min, 0)) << format.fraction_bits);
  const bool infinite = absolute == FloatBits<T>::infinity;
  const bool to_largest = finite | (how.stops_at_largest(negative) & !infinite);
  code = ((code > format.largest) | infinite) ? (to_largest ? format.largest : format.overflow) : code;
  code = (relu & negative) ? 0 : code | (negative ? format.sign : 0);
  return absolute > FloatBits<T>::infinity ? format.nan : static_cast<std::uint32_t>(code);
}

/// The value of a code of less than 16 bits, exactly. A subnormal number is computed as the smallest normal number plus the fraction, minus
/// that number. So no operand is subnormal in f32, which would be slow.
constexpr float from_small(std::uint32_t code, const SmallFloat& format) {
  constexpr std::uint32_t smallest_normal = 1 << 23;
  const std::uint32_t absolute = code & (format.sign - 1), magnitude = absolute << (23 - format.fraction_bits);
  const std::uint32_t smaller = magnitude + (static_cast<std::uint32_t>(format.min_exponent + 126) << 23);
  const float smallest = std::bit_cast<float>(static_cast<std::uint32_t>(format.min_exponent + 127) << 23);
  const float number =
      magnitude < smallest_normal ? std::bit_cast<float>(smaller + smallest_normal) - smallest : std::bit_cast<float>(smaller);
  const std::uint32_t special = absolute == format.overflow ? FloatBits<float>::infinity : FloatBits<float>::nan;
  const std::uint32_t bits = absolute > format.largest ? special : std::bit_cast<std::uint32_t>(number);
  return std::bit_cast<float>(bits | ((code & format.sign) != 0 ? FloatBits<float>::sign : 0));
}

/// ue8m0 of |x|: the exponent, rounded down (.rz) or up (.rp). The range is 2^-127 to 2^127.
constexpr std::uint32_t to_power(float x, bool up, bool finite) {
  constexpr std::uint32_t fraction = (1 << 23) - 1, largest = 254, nan = 255, half_of_normal = 1 << 22;
  const std::uint32_t absolute = magnitude(x), field = absolute >> 23;
  const bool above = field == 0 ? (absolute & fraction) > half_of_normal : (absolute & fraction) != 0;
  const std::uint32_t code = field + static_cast<std::uint32_t>(up && above);
  if (absolute > FloatBits<float>::infinity) return nan;
  return code > largest ? (finite || (!up && absolute != FloatBits<float>::infinity) ? largest : nan) : code;
}

/// The bf16 of a ue8m0 code.
constexpr std::uint32_t power_to_bf16(std::uint32_t code) {
  constexpr std::uint32_t smallest = 0x0040;  // 2^-127 is subnormal
  return code == 255 ? canonical_half_nan : code == 0 ? smallest : code << 7;
}

}  // namespace warpmat::scalar
