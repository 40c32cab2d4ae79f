#pragma once

#include <warpmat/device/product.h>

namespace warpmat::device {

// Products of integers and bits: exact sums of whole registers, which hold elements that are neighbours along K.

template <typename P>
struct IntegerOperands {
  u32 a[P::fragment_a.words()], b[P::fragment_b.words()], c[P::fragment_c.words()];

  WARPMAT_DEVICE_INLINE explicit IntegerOperands(const Registers<P>& registers) {
    WARPMAT_DEVICE_UNROLL
    for (int i = 0; i < P::fragment_a.words(); ++i) a[i] = registers.a[i];
    WARPMAT_DEVICE_UNROLL
    for (int i = 0; i < P::fragment_b.words(); ++i) b[i] = registers.b[i];
    WARPMAT_DEVICE_UNROLL
    for (int i = 0; i < P::fragment_c.words(); ++i) c[i] = registers.c[i];
  }
};

/// The sum of four products of bytes, and `sum`.
template <bool signed_a, bool signed_b>
WARPMAT_DEVICE_INLINE s32 dot_of_bytes(u32 a, u32 b, s32 sum) {
#if defined(__CUDA_ARCH__)
  s32 result;
  if (signed_a && signed_b) asm("dp4a.s32.s32 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(sum));
  if (signed_a && !signed_b) asm("dp4a.s32.u32 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(sum));
  if (!signed_a && signed_b) asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(sum));
  if (!signed_a && !signed_b) asm("dp4a.u32.u32 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(sum));
  return result;
#else
  for (int i = 0; i < 32; i += 8) {
    const s32 x = static_cast<s32>(a >> i & 0xff), y = static_cast<s32>(b >> i & 0xff);
    sum += (signed_a && x > 127 ? x - 256 : x) * (signed_b && y > 127 ? y - 256 : y);
  }
  return sum;
#endif
}

WARPMAT_DEVICE_INLINE s32 count_of_ones(u32 x) {
#if defined(__CUDA_ARCH__)
  return __popc(x);
#else
  return __builtin_popcount(x);
#endif
}

/// The sum of the products of a word of A and one of B. Elements of 4 bits are multiplied in the upper halves of bytes, as 16 times
/// themselves.
template <typename P>
WARPMAT_DEVICE_INLINE s32 dot_of_words(u32 a, u32 b) {
  constexpr bool signed_a = RowOf<P::form.a>::row.is_signed, signed_b = RowOf<P::form.b>::row.is_signed;
  constexpr int bits = P::fragment_a.element_bits;
  if constexpr (bits == 1) {
    return count_of_ones(P::form.bit_operation == BitOperation::bit_xor ? a ^ b : a & b);
  } else if constexpr (bits == 4) {
    constexpr u32 upper = 0xf0f0f0f0u;
    const s32 low = dot_of_bytes<signed_a, signed_b>(a << 4 & upper, b << 4 & upper, 0);
    return dot_of_bytes<signed_a, signed_b>(a & upper, b & upper, low) / 256;
  } else {
    return dot_of_bytes<signed_a, signed_b>(a, b, 0);
  }
}

template <typename P, typename Warp>
WARPMAT_DEVICE_INLINE void multiply_integers(const Warp& warp, u32 (&bits)[P::rows.count][P::columns.count]) {
  constexpr auto rows = P::rows, columns = P::columns;
  constexpr Fragment fragment_a = P::fragment_a, fragment_b = P::fragment_b, fragment_c = P::fragment_c;
  constexpr LaneBits a_bits = P::a_bits, b_bits = P::b_bits, c_bits = P::c_bits;
  constexpr int in_word = fragment_a.per_register(), words = P::form.stored_k / in_word;
  const u32 a_of_lane = a_bits.of(warp.lane()), b_of_lane = b_bits.of(warp.lane()), c_of_lane = c_bits.of(warp.lane());
  const auto whole = [](int number) { return number / in_word; };

  WARPMAT_DEVICE_UNROLL
  for (int i = 0; i < rows.count; ++i) {
    u32 a[words];
    WARPMAT_DEVICE_UNROLL
    for (int k = 0; k < words; ++k)
      a[k] = element_at<P::a, a_bits.all()>(fragment_a.place(rows.line[i], static_cast<u32>(k * in_word)), a_of_lane,
                                            [&](int number, int lane) { return warp.a(whole(number), lane); });
    WARPMAT_DEVICE_UNROLL
    for (int j = 0; j < columns.count; ++j) {
      s32 sum = 0;
      WARPMAT_DEVICE_UNROLL
      for (int k = 0; k < words; ++k)
        sum += dot_of_words<P>(a[k], element_at<P::b, b_bits.all()>(fragment_b.place(static_cast<u32>(k * in_word), columns.line[j]), b_of_lane,
                                                                    [&](int number, int lane) { return warp.b(whole(number), lane); }));
      const s64 total = static_cast<s64>(sum) +
                        static_cast<s32>(element_at<P::c, c_bits.all()>(fragment_c.place(rows.line[i], columns.line[j]), c_of_lane,
                                                                        [&](int number, int lane) { return warp.c(number, lane); }));
      constexpr s64 most = 0x7fffffff;
      bits[i][j] = static_cast<u32>(!P::form.satfinite ? total : total > most ? most : total < -most - 1 ? -most - 1 : total);
    }
  }
}

}  // namespace warpmat::device
