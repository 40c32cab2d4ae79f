#pragma once

#include <algorithm>
#include <cstdint>

#include <warpmat/numeric/exact.h>
#include <warpmat/scalar/kernel.h>

// The video instructions in one lane (PTX ISA 9.1 section 9.7.18). Hardware from sm_50 on lacks them: ptxas emits other instructions. Where
// these differ from the PTX ISA, the bits here are those of ptxas 13.0's code for sm_90 [H200]. Sources are extended to 64 bits, so that
// only vmad can overflow.

namespace warpmat::scalar {

/// `bits` bits of a word from `first` on, extended to 64 bits.
constexpr std::int64_t video_part(std::uint32_t word, int first, int bits, bool is_signed) {
  const std::uint64_t up = static_cast<std::uint64_t>(word) >> first << (64 - bits);
  return is_signed ? static_cast<std::int64_t>(up) >> (64 - bits) : static_cast<std::int64_t>(up >> (64 - bits));
}

constexpr std::int64_t clamp_to_bits(std::int64_t x, int bits, bool is_signed) {
  const std::int64_t one = 1;
  return is_signed ? std::clamp(x, -(one << (bits - 1)), (one << (bits - 1)) - 1) : std::clamp<std::int64_t>(x, 0, (one << bits) - 1);
}

// The primary operations.

constexpr std::int64_t video_add(std::int64_t a, std::int64_t b, const Modifiers&) {
  return a + b;
}
constexpr std::int64_t video_subtract(std::int64_t a, std::int64_t b, const Modifiers&) {
  return a - b;
}
constexpr std::int64_t video_difference(std::int64_t a, std::int64_t b, const Modifiers&) {
  return a < b ? b - a : a - b;
}
constexpr std::int64_t video_minimum(std::int64_t a, std::int64_t b, const Modifiers&) {
  return std::min(a, b);
}
constexpr std::int64_t video_maximum(std::int64_t a, std::int64_t b, const Modifiers&) {
  return std::max(a, b);
}
/// The average, rounded away from zero.
constexpr std::int64_t video_average(std::int64_t a, std::int64_t b, const Modifiers&) {
  return (a + b + (a + b >= 0 ? 1 : 0)) >> 1;
}

constexpr std::int64_t video_shift_amount(std::int64_t b, const Modifiers& m) {
  return m.wrap ? b & 31 : std::min<std::int64_t>(b, 32);
}
constexpr std::int64_t video_shift_left(std::int64_t a, std::int64_t b, const Modifiers& m) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) << video_shift_amount(b, m));
}
constexpr std::int64_t video_shift_right(std::int64_t a, std::int64_t b, const Modifiers& m) {
  return a >> video_shift_amount(b, m);
}

constexpr std::int64_t video_compare(std::int64_t a, std::int64_t b, const Modifiers& m) {
  return (m.outcomes & (a < b ? is_less : a == b ? is_equal : is_greater)) != 0 ? 1 : 0;
}

using VideoOperation = std::int64_t (*)(std::int64_t, std::int64_t, const Modifiers&);

/// .sat of a 32-bit result. An unsigned overflow is truncated instead [H200].
constexpr std::int64_t saturate_video(std::int64_t x, bool is_signed) {
  return is_signed ? clamp_to_bits(x, 32, true) : std::max<std::int64_t>(x, 0);
}

/// A scalar video instruction other than vmad. c is 0 if the text has none.
template <VideoOperation operation>
constexpr std::uint32_t video(std::uint32_t a, std::uint32_t b, std::uint32_t c, const Modifiers& m) {
  const Video& v = m.video;
  const std::int64_t x = video_part(a, v.first_bit[0], v.bits[0], v.is_signed[0]),
                     y = video_part(b, v.first_bit[1], v.bits[1], v.is_signed[1]);
  std::int64_t result = operation(x, y, m);
  if (m.saturate) result = saturate_video(result, v.signed_result);
  // The second operation reads 32 bits of the first one's result, with the signedness of the instruction's result [H200].
  const std::int64_t third = video_part(c, 0, 32, v.signed_result);
  if (v.second != Video::Second::none) result = video_part(static_cast<std::uint32_t>(result), 0, 32, v.signed_result);
  switch (v.second) {
    case Video::Second::none: break;
    case Video::Second::add: result += third; break;
    case Video::Second::min: result = std::min(result, third); break;
    case Video::Second::max: result = std::max(result, third); break;
  }
  if (!v.merge) return static_cast<std::uint32_t>(result);
  const auto mask = static_cast<std::uint32_t>(((std::uint64_t{1} << v.result_bits) - 1) << v.result_first_bit);
  // The upper half receives the upper half of the result; the PTX ISA says the lower one [H200].
  const int shift = v.result_bits == 16 ? 0 : v.result_first_bit;
  return (c & ~mask) | (static_cast<std::uint32_t>(result) << shift & mask);
}

/// vmad: a · b + c, negated, shifted and clamped by the modifiers. c is signed whatever its type; so are a and b if they are whole words
/// [H200].
constexpr std::uint32_t video_multiply_add(std::uint32_t a, std::uint32_t b, std::uint32_t c, const Modifiers& m) {
  const Video& v = m.video;
  const std::int64_t x = video_part(a, v.first_bit[0], v.bits[0], v.is_signed[0] || v.bits[0] == 32);
  const std::int64_t y = video_part(b, v.first_bit[1], v.bits[1], v.is_signed[1] || v.bits[1] == 32);
  // Two's complement in 128 bits.
  uint128 sum = static_cast<uint128>(x) * static_cast<uint128>(y);
  if (v.negate_product) sum = 0 - sum;
  const auto third = static_cast<uint128>(video_part(c, 0, 32, true));
  sum += (v.negate_c ? 0 - third : third) + (v.plus_one ? 1 : 0);
  // Only the lower 64 bits of the shifted sum count.
  const auto shifted = static_cast<std::int64_t>(static_cast<std::uint64_t>(sum >> v.scale));
  return static_cast<std::uint32_t>(m.saturate ? clamp_to_bits(shifted, 32, v.signed_result) : shifted);
}

/// A SIMD video instruction on `count` elements: 2 half-words or 4 bytes, each selected from {b, a}.
template <VideoOperation operation, int count>
constexpr std::uint32_t video_simd(std::uint32_t a, std::uint32_t b, std::uint32_t c, const Modifiers& m) {
  const Video& v = m.video;
  constexpr int bits = 32 / count;
  constexpr std::uint32_t inside = count == 2 ? 0xffff : 0xff;
  const auto element = [&](std::size_t side, int i) {
    const int place = v.select[side][static_cast<std::size_t>(i)];
    return video_part(place < count ? a : b, place % count * bits, bits, v.is_signed[side]);
  };
  const bool accumulate = v.second == Video::Second::add;
  std::uint32_t result = c;
  for (int i = 0; i < count; ++i) {
    if ((v.mask >> i & 1) == 0) continue;
    std::int64_t x = operation(element(0, i), element(1, i), m);
    if (m.saturate) x = clamp_to_bits(x, bits, v.signed_result);
    const auto word = static_cast<std::uint32_t>(x);
    result = accumulate ? result + word : (result & ~(inside << (i * bits))) | (word & inside) << (i * bits);
  }
  return result;
}

}  // namespace warpmat::scalar
