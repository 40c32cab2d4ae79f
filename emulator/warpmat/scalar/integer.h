#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

// Integer arithmetic of one lane (PTX ISA 9.1 section 9.7.1). T is a fixed-width type of 16, 32 or 64 bits; results wrap around.

namespace warpmat::scalar {

template <typename T>
using Unsigned = std::make_unsigned_t<T>;

/// The type of twice the width and the same signedness.
template <typename T>
struct DoubledType;
template <>
struct DoubledType<std::int16_t> {
  using Type = std::int32_t;
};
template <>
struct DoubledType<std::uint16_t> {
  using Type = std::uint32_t;
};
template <>
struct DoubledType<std::int32_t> {
  using Type = std::int64_t;
};
template <>
struct DoubledType<std::uint32_t> {
  using Type = std::uint64_t;
};
template <typename T>
using Doubled = typename DoubledType<T>::Type;

template <typename T>
constexpr int bits_of = static_cast<int>(sizeof(T) * 8);

// Unsigned 32-bit arithmetic instead of the promotion to int, whose overflow is undefined.
template <typename T>
constexpr T add(T a, T b) {
  using U = std::common_type_t<Unsigned<T>, unsigned>;
  return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
}

template <typename T>
constexpr T subtract(T a, T b) {
  using U = std::common_type_t<Unsigned<T>, unsigned>;
  return static_cast<T>(static_cast<U>(a) - static_cast<U>(b));
}

template <typename T>
constexpr T multiply_low(T a, T b) {
  using U = std::common_type_t<Unsigned<T>, unsigned>;
  return static_cast<T>(static_cast<U>(a) * static_cast<U>(b));
}

template <typename T>
constexpr Doubled<T> multiply_wide(T a, T b) {
  return static_cast<Doubled<T>>(static_cast<Doubled<T>>(a) * static_cast<Doubled<T>>(b));
}

/// The upper half of a 64-bit product from 32-bit halves: vector units have no 128-bit product.
constexpr std::uint64_t multiply_high_64(std::uint64_t a, std::uint64_t b) {
  const std::uint64_t a0 = a & 0xffffffff, a1 = a >> 32, b0 = b & 0xffffffff, b1 = b >> 32;
  const std::uint64_t low = a0 * b0, cross1 = a1 * b0 + (low >> 32), cross2 = a0 * b1 + (cross1 & 0xffffffff);
  return a1 * b1 + (cross1 >> 32) + (cross2 >> 32);
}

template <typename T>
constexpr T multiply_high(T a, T b) {
  if constexpr (sizeof(T) == 8) {
    const auto ua = static_cast<std::uint64_t>(a), ub = static_cast<std::uint64_t>(b);
    std::uint64_t high = multiply_high_64(ua, ub);
    if constexpr (std::is_signed_v<T>) high -= (a < 0 ? ub : 0) + (b < 0 ? ua : 0);
    return static_cast<T>(high);
  } else {
    return static_cast<T>(multiply_wide(a, b) >> bits_of<T>);
  }
}

template <typename T>
constexpr T multiply_add_low(T a, T b, T c) {
  return add(multiply_low(a, b), c);
}

template <typename T>
constexpr T multiply_add_high(T a, T b, T c) {
  return add(multiply_high(a, b), c);
}

template <typename T>
constexpr Doubled<T> multiply_add_wide(T a, T b, Doubled<T> c) {
  return add(multiply_wide(a, b), c);
}

constexpr std::int32_t saturate(std::int64_t x) {
  return static_cast<std::int32_t>(
      std::clamp<std::int64_t>(x, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()));
}

constexpr std::int32_t add_saturating(std::int32_t a, std::int32_t b) {
  return saturate(std::int64_t{a} + b);
}
constexpr std::int32_t subtract_saturating(std::int32_t a, std::int32_t b) {
  return saturate(std::int64_t{a} - b);
}
constexpr std::int32_t multiply_add_high_saturating(std::int32_t a, std::int32_t b, std::int32_t c) {
  return add_saturating(multiply_high(a, b), c);
}

/// The 48-bit product of the lower 24 bits.
template <typename T>
constexpr Doubled<T> multiply_24(T a, T b) {
  using U = std::uint32_t;
  const auto low24 = [](T x) { return static_cast<T>(static_cast<T>(static_cast<U>(x) << 8) >> 8); };
  return multiply_wide<T>(low24(a), low24(b));
}

template <typename T>
constexpr T multiply_24_low(T a, T b) {
  return static_cast<T>(multiply_24(a, b));
}
template <typename T>
constexpr T multiply_24_high(T a, T b) {
  return static_cast<T>(multiply_24(a, b) >> 16);
}
template <typename T>
constexpr T multiply_add_24_low(T a, T b, T c) {
  return add(multiply_24_low(a, b), c);
}
template <typename T>
constexpr T multiply_add_24_high(T a, T b, T c) {
  return add(multiply_24_high(a, b), c);
}
constexpr std::int32_t multiply_add_24_high_saturating(std::int32_t a, std::int32_t b, std::int32_t c) {
  return add_saturating(multiply_24_high(a, b), c);
}

/// |a|; the smallest number is unchanged.
template <typename T>
constexpr T absolute(T a) {
  return a < 0 ? subtract<T>(0, a) : a;
}
template <typename T>
constexpr T negate(T a) {
  return subtract<T>(0, a);
}

/// c + |a - b|
template <typename T>
constexpr T add_absolute_difference(T a, T b, T c) {
  return add(c, a < b ? subtract(b, a) : subtract(a, b));
}

/// a / b toward zero. Division by zero: all ones [H200]. The smallest number by -1: itself. Up to 32 bits it divides doubles, up to 16 bits
/// floats: a quotient that is no integer is at least 1 / b from the next one, further than rounding moves it; and vector units divide them.
template <typename T>
T divide(T a, T b) {
  if constexpr (sizeof(T) == 8) {
    if (b == 0) return static_cast<T>(~T{0});
    if constexpr (std::is_signed_v<T>)
      if (b == -1) return negate(a);
    return static_cast<T>(a / b);
  } else {
    using Float = std::conditional_t<sizeof(T) <= 2, float, double>;
    using Bits = std::conditional_t<sizeof(T) <= 2, std::uint32_t, std::uint64_t>;
    const Float divisor = b == 0 ? Float{1} : static_cast<Float>(b);
    constexpr Float unit_is_last_bit = sizeof(T) <= 2 ? 0x1.8p23f : 0x1.8p52;  // a number of this size ends in the quotient's bits
    const Float quotient = std::trunc(static_cast<Float>(a) / divisor) + unit_is_last_bit;
    return static_cast<T>(b == 0 ? ~Bits{0} : std::bit_cast<Bits>(quotient));
  }
}

/// a - b * (a / b). Division by zero: all ones [H200].
template <typename T>
T remainder(T a, T b) {
  if constexpr (sizeof(T) == 8) {
    if (b == 0) return static_cast<T>(~T{0});
    if constexpr (std::is_signed_v<T>)
      if (b == -1) return 0;
    return static_cast<T>(a % b);
  } else {
    return b == 0 ? static_cast<T>(~T{0}) : subtract(a, multiply_low(divide(a, b), b));
  }
}

template <typename T>
constexpr T minimum(T a, T b) {
  return a < b ? a : b;
}
template <typename T>
constexpr T maximum(T a, T b) {
  return a > b ? a : b;
}
template <typename T>
constexpr T minimum_relu(T a, T b) {
  return maximum<T>(minimum(a, b), 0);
}
template <typename T>
constexpr T maximum_relu(T a, T b) {
  return maximum<T>(maximum(a, b), 0);
}

/// f of both halves of a word.
template <typename T, T (*f)(T, T)>
constexpr std::uint32_t on_halves(std::uint32_t a, std::uint32_t b) {
  const auto low = static_cast<std::uint16_t>(f(static_cast<T>(a), static_cast<T>(b)));
  const auto high = static_cast<std::uint16_t>(f(static_cast<T>(a >> 16), static_cast<T>(b >> 16)));
  return std::uint32_t{high} << 16 | low;
}

/// Byte or half-word `index` of a word, extended by A's signedness.
template <typename Part>
constexpr std::int64_t part(std::uint32_t word, int index) {
  return static_cast<Part>(word >> (index * bits_of<Part>));
}

template <typename A, typename B>
constexpr std::uint32_t dot_4(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  for (int i = 0; i < 4; ++i) c += static_cast<std::uint32_t>(part<A>(a, i) * part<B>(b, i));
  return c;
}

/// `first` is the number of b's first byte: 0 for .lo, 2 for .hi.
template <typename A, typename B, int first>
constexpr std::uint32_t dot_2(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  return static_cast<std::uint32_t>(std::int64_t{c} + part<A>(a, 0) * part<B>(b, first) + part<A>(a, 1) * part<B>(b, first + 1));
}

}  // namespace warpmat::scalar
