#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

#include <warpmat/scalar/integer.h>
#include <warpmat/scalar/kernel.h>

// Logic, shifts and bit fields of one lane (PTX ISA 9.1 sections 9.7.1.14 to 9.7.1.22, 9.7.8, 9.7.9.7).

namespace warpmat::scalar {

template <typename T>
constexpr T bitwise_and(T a, T b) {
  return static_cast<T>(a & b);
}
template <typename T>
constexpr T bitwise_or(T a, T b) {
  return static_cast<T>(a | b);
}
template <typename T>
constexpr T bitwise_xor(T a, T b) {
  return static_cast<T>(a ^ b);
}
template <typename T>
constexpr T bitwise_not(T a) {
  return static_cast<T>(~a);
}
template <typename T>
constexpr T logical_not(T a) {
  return a == 0 ? 1 : 0;
}

/// For each bit, entry 4a + 2b + c of `table`: selected by a, then by b, then by c.
constexpr std::uint32_t look_up(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t table) {
  const auto entry = [&](int place) { return (table >> place & 1) != 0 ? ~0u : 0u; };
  const auto select = [](std::uint32_t by, std::uint32_t zero, std::uint32_t one) { return zero ^ (by & (zero ^ one)); };
  const auto by_a = [&](int place) { return select(a, entry(place), entry(place + 4)); };
  return select(c, select(b, by_a(0), by_a(2)), select(b, by_a(1), by_a(3)));
}

/// Shifts by the width or more shift everything out.
template <typename T>
constexpr T shift_left(T a, std::uint32_t amount) {
  using Wide = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  const std::uint32_t in_range = amount & (bits_of<Wide> - 1);
  return amount >= bits_of<T> ? T{0} : static_cast<T>(static_cast<Wide>(a) << in_range);
}

template <typename T>
constexpr T shift_right(T a, std::uint32_t amount) {
  const std::uint32_t largest = bits_of<T> - 1;
  if constexpr (std::is_signed_v<T>) return static_cast<T>(a >> std::min(amount, largest));
  return amount > largest ? T{0} : static_cast<T>(a >> (amount & largest));
}

/// Funnel shift of {b, a}: funnel_left returns the upper word, funnel_right the lower.
constexpr std::uint32_t funnel_left(std::uint32_t a, std::uint32_t b, std::uint32_t c, const Modifiers& m) {
  const std::uint64_t both = std::uint64_t{b} << 32 | a;
  return static_cast<std::uint32_t>((both << (m.wrap ? c & 31 : std::min(c, 32u))) >> 32);
}

constexpr std::uint32_t funnel_right(std::uint32_t a, std::uint32_t b, std::uint32_t c, const Modifiers& m) {
  const std::uint64_t both = std::uint64_t{b} << 32 | a;
  return static_cast<std::uint32_t>(both >> (m.wrap ? c & 31 : std::min(c, 32u)));
}

// std::popcount and similar, for vectors without such an instruction: sums of neighbouring bits, then of pairs, and so on.
template <typename T>
constexpr std::uint32_t count_ones(T a) {
  constexpr T all = static_cast<T>(~T{0});
  a = static_cast<T>(a - ((a >> 1) & all / 3));
  a = static_cast<T>((a & all / 5) + ((a >> 2) & all / 5));
  a = static_cast<T>((a + (a >> 4)) & all / 17);
  return static_cast<std::uint32_t>(static_cast<T>(a * (all / 255)) >> (bits_of<T> - 8));
}

/// All bits up to and including the highest set bit. Without a loop: GNU makes no vectors of one whose step doubles.
template <typename T>
constexpr T smear(T a) {
  a |= a >> 1;
  a |= a >> 2;
  a |= a >> 4;
  a |= a >> 8;
  a |= a >> 16;
  if constexpr (sizeof(T) == 8) a |= a >> 32;
  return a;
}

template <typename T>
constexpr std::uint32_t count_leading_zeros(T a) {
  return static_cast<std::uint32_t>(bits_of<T>) - count_ones(smear(a));
}

template <typename T>
constexpr T reverse_bits(T a) {
  constexpr T all = static_cast<T>(~T{0});
  a = static_cast<T>((a >> 1 & all / 3) | (a & all / 3) << 1);
  a = static_cast<T>((a >> 2 & all / 5) | (a & all / 5) << 2);
  a = static_cast<T>((a >> 4 & all / 17) | (a & all / 17) << 4);
  a = static_cast<T>((a >> 8 & all / 257) | (a & all / 257) << 8);
  a = static_cast<T>((a >> 16 & all / 65537) | (a & all / 65537) << 16);
  if constexpr (sizeof(T) == 8) a = a >> 32 | a << 32;
  return a;
}

/// How many bits from the highest on are the same as the sign; 0 bits of unsigned numbers.
template <typename T>
constexpr std::uint32_t count_sign_bits(T a) {
  return count_leading_zeros(static_cast<Unsigned<T>>(a < 0 ? ~a : a));
}

/// The position of the highest bit that differs from the sign, or 0xffffffff.
template <typename T>
constexpr std::uint32_t find_leading(T a) {
  return static_cast<std::uint32_t>(bits_of<T>) - 1 - count_sign_bits(a);
}

/// The distance of that bit from the highest position, or 0xffffffff.
template <typename T>
constexpr std::uint32_t find_leading_shift(T a) {
  const std::uint32_t same = count_sign_bits(a);
  return same == static_cast<std::uint32_t>(bits_of<T>) ? ~0u : same;
}

/// The position or length of a bit field. For 32-bit fields the lower 8 bits count, as in the PTX ISA; for 64-bit fields all bits [H200].
template <typename T>
constexpr std::uint32_t field_operand(std::uint32_t x) {
  return std::min<std::uint32_t>(sizeof(T) == 8 ? x : x & 255, 255);
}

/// `length` bits of a from `position` on. A signed field extends its last bit, which is at most a's own.
template <typename T>
constexpr T extract_bits(T a, std::uint32_t position, std::uint32_t length) {
  const std::uint32_t first = field_operand<T>(position), count = field_operand<T>(length), width = bits_of<T>;
  const auto field = static_cast<Unsigned<T>>(shift_right<T>(a, first));
  const Unsigned<T> inside =
      count >= width ? static_cast<Unsigned<T>>(~Unsigned<T>{0}) : static_cast<Unsigned<T>>(shift_left<Unsigned<T>>(1, count) - 1);
  if constexpr (!std::is_signed_v<T>) return static_cast<T>(field & inside);
  const std::uint32_t last = std::min(first + count - 1, width - 1);
  const bool sign = count != 0 && (static_cast<Unsigned<T>>(a) >> (last & (width - 1)) & 1) != 0;
  return static_cast<T>(sign ? field | static_cast<Unsigned<T>>(~inside) : field & inside);
}

/// b with its field at `position` replaced by the low `length` bits of a.
template <typename T>
constexpr T insert_bits(T a, T b, std::uint32_t position, std::uint32_t length) {
  const std::uint32_t first = field_operand<T>(position), count = field_operand<T>(length), width = bits_of<T>;
  const T inside = count >= width ? static_cast<T>(~T{0}) : static_cast<T>(shift_left<T>(1, count) - 1);
  const T mask = shift_left<T>(inside, first);
  return static_cast<T>((b & ~mask) | (shift_left<T>(a, first) & mask));
}

/// b ones from bit a on.
constexpr std::uint32_t bit_mask(std::uint32_t a, std::uint32_t b, const Modifiers& m) {
  const std::uint32_t first = m.wrap ? a & 31 : std::min(a, 32u), count = m.wrap ? b & 31 : std::min(b, 32u);
  return shift_left<std::uint32_t>(count == 32 ? ~0u : (1u << (count & 31)) - 1, first);
}

/// The low b bits of a, sign- or zero-extended by the signedness of T.
template <typename T>
constexpr T extend_bits(T a, std::uint32_t b, const Modifiers& m) {
  const std::uint32_t count = m.wrap ? b & 31 : std::min(b, 32u);
  const T shifted = static_cast<T>(shift_left<std::uint32_t>(static_cast<std::uint32_t>(a), 32 - count));
  return count == 0 ? 0 : static_cast<T>(shifted >> ((32 - count) & 31));
}

/// The position of the |offset|-th set bit of `mask` from `base` on, upwards or downwards; 0xffffffff if there is none. A `base` above 31
/// finds none. An offset of -2^31, whose absolute value does not fit, gives 0 [H200].
constexpr std::uint32_t find_nth_set(std::uint32_t mask, std::uint32_t base, std::int32_t offset) {
  if (offset == std::numeric_limits<std::int32_t>::min()) return 0;
  if (base > 31) return ~0u;
  if (offset == 0) return (mask >> base & 1) != 0 ? base : ~0u;
  std::uint32_t left = offset > 0 ? static_cast<std::uint32_t>(offset) : 0u - static_cast<std::uint32_t>(offset);
  for (auto place = static_cast<int>(base); place >= 0 && place<32; place += offset> 0 ? 1 : -1)
    if ((mask >> place & 1) != 0 && --left == 0) return static_cast<std::uint32_t>(place);
  return ~0u;
}

// ---- prmt: bytes of {b, a} -----------------------------------------------------------------------------------------------------------

/// A selector has four nibbles: three bits select the byte; the fourth replaces it by copies of its sign.
constexpr std::uint32_t permute(std::uint32_t a, std::uint32_t b, std::uint32_t selector) {
  const std::uint64_t both = std::uint64_t{b} << 32 | a;
  std::uint32_t result = 0;
  for (std::uint32_t i = 0; i < 4; ++i) {
    const std::uint32_t nibble = selector >> (4 * i);
    const auto byte = static_cast<std::uint32_t>(both >> (8 * (nibble & 7)) & 0xff);
    const std::uint32_t sign = (byte & 0x80) != 0 ? 0xff : 0;
    result |= ((nibble & 8) != 0 ? sign : byte) << (8 * i);
  }
  return result;
}

/// The selectors of prmt's modes, indexed by the two low bits of c (PTX ISA 9.1 section 9.7.9.7).
template <std::uint16_t c0, std::uint16_t c1, std::uint16_t c2, std::uint16_t c3>
constexpr std::uint32_t permute_mode(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  const std::uint32_t low = (c & 1) != 0 ? c1 : c0, high = (c & 1) != 0 ? c3 : c2;
  return permute(a, b, (c & 2) != 0 ? high : low);
}

}  // namespace warpmat::scalar
