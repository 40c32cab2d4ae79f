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

namespace warpmat::inline v0_1::scalar {

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

/// x rounded to a whole number and clamped to the range of D. NaN becomes `nan`.
template <typename D>
D whole_to_integer(double x, D nan) {
  constexpr double beyond = static_cast<double>(std::numeric_limits<D>::max() / 2 + 1) * 2;  // the smallest number that is too large
  constexpr double lowest = static_cast<double>(std::numeric_limits<D>::min());
  D result;
  if constexpr (sizeof(D) == 8) {
    const bool in_range = x >= lowest && x < beyond;
    const bool upper = !std::is_signed_v<D> && x >= 0x1p63;
    const auto part = static_cast<std::int64_t>(in_range ? (upper ? x - 0x1p63 : x) : 0.0);
    result = static_cast<D>(static_cast<std::uint64_t>(part) + (upper ? std::uint64_t{1} << 63 : 0));
    result = x < lowest ? std::numeric_limits<D>::min() : x >= beyond ? std::numeric_limits<D>::max() : result;
  } else {
    constexpr double unit_is_last_bit = 0x1.8p52;  // a double of this size has unit precision, so its last bits are the integer's
    const double clamped = x > lowest ? (x < beyond - 1 ? x : beyond - 1) : lowest;
    result = static_cast<D>(std::bit_cast<std::uint64_t>(clamped + unit_is_last_bit));
  }
  return x != x ? nan : result;
}

/// x with at most 53 bits, the last of them sticky: the input of rounding to a half, whose last bit is far above.
constexpr std::uint64_t with_sticky_bit(std::uint64_t x) {
  constexpr std::uint64_t low = 0xfff;
  return x >> 52 == 0 ? x : (x & ~low) | std::uint64_t{(x & low) != 0} << 12;
}

}  // namespace warpmat::inline v0_1::scalar
