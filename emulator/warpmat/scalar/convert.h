#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include <warpmat/scalar/kernel.h>

// Conversion of one lane between integers, and between integers and floating-point numbers (PTX ISA 9.1 section 9.7.9.21).

namespace warpmat::scalar {

template <typename D, typename S>
constexpr D convert_integer(S x) {
  return static_cast<D>(x);
}

template <typename D, typename S>
constexpr D convert_integer_saturating(S x) {
  using Low = std::numeric_limits<D>;
  if (std::cmp_less(x, Low::min())) return Low::min();
  return std::cmp_greater(x, Low::max()) ? Low::max() : static_cast<D>(x);
}

/// x rounded to a whole number.
template <Rounding rounding, typename T>
T to_whole(T x) {
  if constexpr (rounding == Rounding::toward_zero) return std::trunc(x);
  if constexpr (rounding == Rounding::down) return std::floor(x);
  if constexpr (rounding == Rounding::up) return std::ceil(x);
  return std::nearbyint(x);
}

/// x clamped to the range of D, which has at most 32 bits. NaN becomes `nan`.
template <typename D>
double clamp_to(double x, D nan) {
  constexpr double lowest = std::numeric_limits<D>::min(), largest = std::numeric_limits<D>::max();
  const double clamped = x > lowest ? (x < largest ? x : largest) : lowest;
  return x != x ? static_cast<double>(nan) : clamped;
}

/// The whole number x as an integer of at most 32 bits, in whose range it is.
template <typename D>
D integer_of(double x) {
  constexpr double unit_is_last_bit = 0x1.8p52;  // a double of this size has unit precision, so its last bits are the integer's
  return static_cast<D>(std::bit_cast<std::uint64_t>(x + unit_is_last_bit));
}

/// The whole number x clamped to the range of D, which has 64 bits. NaN becomes `nan`.
template <typename D>
D whole_to_integer(double x, D nan) {
  constexpr double beyond = static_cast<double>(std::numeric_limits<D>::max() / 2 + 1) * 2;  // the smallest number that is too large
  constexpr double lowest = static_cast<double>(std::numeric_limits<D>::min());
  const bool in_range = x >= lowest && x < beyond;
  const bool upper = !std::is_signed_v<D> && x >= 0x1p63;
  const auto part = static_cast<std::int64_t>(in_range ? (upper ? x - 0x1p63 : x) : 0.0);
  D result = static_cast<D>(static_cast<std::uint64_t>(part) + (upper ? std::uint64_t{1} << 63 : 0));
  result = x < lowest ? std::numeric_limits<D>::min() : x >= beyond ? std::numeric_limits<D>::max() : result;
  return x != x ? nan : result;
}

/// x as f32, rounded to odd: where bits are lost, the last bit is 1. Rounding that to a format of at most 22 bits whose last place is at
/// least 2^-147 is rounding x. Not for NaN, nor where the CPU flushes subnormal numbers.
inline float round_to_odd(double x) {
  const auto nearest = static_cast<float>(x);
  const double number = nearest;
  const bool above = std::fabs(number) > std::fabs(x);
  return std::bit_cast<float>((std::bit_cast<std::uint32_t>(nearest) - std::uint32_t{above}) | std::uint32_t{number != x});
}

/// x with at most 53 bits, the last of them sticky: the input of rounding to a half, whose last bit is far above.
constexpr std::uint64_t with_sticky_bit(std::uint64_t x) {
  constexpr std::uint64_t low = 0xfff;
  return x >> 52 == 0 ? x : (x & ~low) | std::uint64_t{(x & low) != 0} << 12;
}

}  // namespace warpmat::scalar
