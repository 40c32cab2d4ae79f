#pragma once

#include <warpmat/device/product.h>

namespace warpmat::device {

// Products of integers and bits: exact sums of whole registers, which hold elements that are neighbours along K.

/// A lane's registers as they are. The element at a place is the whole register.
template <typename P>
struct IntegerOperands {
  u32 a[P::fragment_a.elements()], b[P::fragment_b.elements()], c[P::fragment_c.elements()];

  WARPMAT_DEVICE_INLINE explicit IntegerOperands(const Registers<P>& registers) {
    WARPMAT_DEVICE_UNROLL
    for (int i = 0; i < P::fragment_a.elements(); ++i) a[i] = registers.a[i >> P::fragment_a.inside];
    WARPMAT_DEVICE_UNROLL
    for (int i = 0; i < P::fragment_b.elements(); ++i) b[i] = registers.b[i >> P::fragment_b.inside];
    WARPMAT_DEVICE_UNROLL
    for (int i = 0; i < P::fragment_c.elements(); ++i) c[i] = registers.c[i];
  }
};

/// The sum of four products of bytes, and `sum`.
template <bool signed_a, bool signed_b>
WARPMAT_DEVICE_INLINE i32 dot_of_bytes(u32 a, u32 b, i32 sum) {
#if defined(__CUDA_ARCH__)
  i32 result;
  if (signed_a && signed_b) asm("dp4a.s32.s32 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(sum));
  if (signed_a && !signed_b) asm("dp4a.s32.u32 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(sum));
  if (!signed_a && signed_b) asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(sum));
  if (!signed_a && !signed_b) asm("dp4a.u32.u32 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(sum));
  return result;
#else
  for (int i = 0; i < 32; i += 8) {
    const i32 x = static_cast<i32>(a >> i & 0xff), y = static_cast<i32>(b >> i & 0xff);
    sum += (signed_a && x > 127 ? x - 256 : x) * (signed_b && y > 127 ? y - 256 : y);
  }
  return sum;
#endif
}

WARPMAT_DEVICE_INLINE i32 count_of_ones(u32 x) {
#if defined(__CUDA_ARCH__)
  return __popc(x);
#else
  return __builtin_popcount(x);
#endif
}

/// The sum of the products of a word of A and one of B. Elements of 4 bits are multiplied in the upper halves of bytes, as 16 times
/// themselves.
template <typename P>
WARPMAT_DEVICE_INLINE i32 dot_of_words(u32 a, u32 b) {
  constexpr bool signed_a = RowOf<P::form.a>::row.is_signed, signed_b = RowOf<P::form.b>::row.is_signed;
  constexpr int bits = P::fragment_a.element_bits;
  if constexpr (bits == 1) {
    return count_of_ones(P::form.bit_operation == BitOperation::bit_xor ? a ^ b : a & b);
  } else if constexpr (bits == 4) {
    constexpr u32 upper = 0xf0f0f0f0u;
    const i32 low = dot_of_bytes<signed_a, signed_b>(a << 4 & upper, b << 4 & upper, 0);
    return dot_of_bytes<signed_a, signed_b>(a & upper, b & upper, low) / 256;
  } else {
    return dot_of_bytes<signed_a, signed_b>(a, b, 0);
  }
}

/// Bytes 0 to 3 of `low` and 4 to 7 of `high` that the four halves of `selector` name.
WARPMAT_DEVICE_INLINE u32 chosen_bytes(u32 low, u32 high, u32 selector) {
#if defined(__CUDA_ARCH__)
  return __byte_perm(low, high, selector);
#else
  const u64 bytes = static_cast<u64>(high) << 32 | low;
  u32 result = 0;
  for (int i = 0; i < 4; ++i) result |= static_cast<u32>(bytes >> 8 * (selector >> 4 * i & 7) & 255) << 8 * i;
  return result;
#endif
}

/// The word of B that word `k` of a row of A multiplies. A sparse word has two groups; each code of metadata chooses two of the four bytes
/// of one word of B.
template <typename P, typename Warp>
WARPMAT_DEVICE_INLINE u32 word_of_b(const Warp& warp, int row, int k, int column) {
  constexpr int in_word = P::fragment_b.per_register();
  if constexpr (!P::sparse) {
    return element_of_b<P>(warp, k * in_word, column);
  } else {
    const u32 first = code_of<P>(warp, row, 2 * k), second = code_of<P>(warp, row, 2 * k + 1);
    const u32 selector = (first & 3) | (first >> 2) << 4 | ((second & 3) | 4) << 8 | (second >> 2 | 4) << 12;
    return chosen_bytes(element_of_b<P>(warp, 2 * k * in_word, column), element_of_b<P>(warp, (2 * k + 1) * in_word, column), selector);
  }
}

template <typename P, typename Warp>
WARPMAT_DEVICE_INLINE void multiply_integers(const Warp& warp, Results<P>& d) {
  constexpr Lines rows = P::rows, columns = P::columns;
  constexpr int in_word = P::fragment_a.per_register(), words = P::form.stored_k / in_word;
  Results<P> c;
  read_c(warp, c);
  WARPMAT_DEVICE_UNROLL
  for (int i = 0; i < rows.count; ++i) {
    u32 a[words];
    WARPMAT_DEVICE_UNROLL
    for (int k = 0; k < words; ++k) a[k] = element_of_a<P>(warp, i, k * in_word);
    WARPMAT_DEVICE_UNROLL
    for (int j = 0; j < columns.count; ++j) {
      i32 sum = 0;
      WARPMAT_DEVICE_UNROLL
      for (int k = 0; k < words; ++k) sum += dot_of_words<P>(a[k], word_of_b<P>(warp, i, k, j));
      constexpr i64 most = 0x7fffffff;
      const i64 total = static_cast<i64>(sum) + static_cast<i32>(c.bits[i][j]);
      d.bits[i][j] = static_cast<u32>(!P::form.satfinite ? total : total > most ? most : total < -most - 1 ? -most - 1 : total);
    }
  }
}

}  // namespace warpmat::device
