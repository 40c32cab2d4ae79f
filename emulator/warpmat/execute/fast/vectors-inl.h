// Shared by the kernels; included once for each instruction set, between HWY_BEFORE_NAMESPACE and HWY_AFTER_NAMESPACE of a kernel's file.
//
// A quad is four lanes: in every operand of mma they hold one row (of A, C, D) or column (of B). A register is eight quads, so two
// registers are sixteen rows of four words. Kernels transpose that: one vector holds a word of each row.

#if defined(WARPMAT_FAST_VECTORS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WARPMAT_FAST_VECTORS_INL_H_
#undef WARPMAT_FAST_VECTORS_INL_H_
#else
#define WARPMAT_FAST_VECTORS_INL_H_
#endif

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <utility>

#include <hwy/highway.h>

#include <warpmat/execute/fast/fast.h>
#include <warpmat/numeric/pair_products-inl.h>

#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__ > 0)
#error "the kernels compute NaNs, infinities and roundings: compile them with -fno-fast-math"
#endif
#if defined(__CHAR_UNSIGNED__)
#error "g++ 12 folds blends of bytes by the sign of char: compile the kernels with -fsigned-char"
#endif

HWY_BEFORE_NAMESPACE();
namespace warpmat::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

/// Calls execute_one(warp) for the warps in order until it declines one; returns the number of executed warps.
template <class ExecuteOne>
HWY_INLINE std::size_t execute_each(const Warps& warps, ExecuteOne execute_one) {
  std::size_t warp = 0;
  while (warp < warps.count && execute_one(warp)) ++warp;
  return warp;
}

/// Executes `warps` warps of the products of a chain (fast.h) until one is declined; returns how many were executed.
template <class Product>
HWY_INLINE std::size_t execute_products(std::span<Product* const> chain, std::size_t warps) {
  for (std::size_t warp = 0; warp < warps; ++warp) {
    const Product* before = nullptr;
    for (Product* const product : chain) {
      if (!product->run(warp, before, product == chain.back())) return warp;
      before = product;
    }
  }
  return warps;
}

/// Calls execute(products) with pointers to the products of a chain. make(warps) returns one, which keeps its A for all warps. Those behind
/// the last product are not used: an array of optional ones would be cleared, 42 KB for bf16.
template <class Make, class Execute>
HWY_INLINE void with_products(std::span<const Warps> chain, Make make, Execute execute) {
  const auto run = [&]<std::size_t... i>(std::index_sequence<i...>) HWY_ATTR {
    std::array products{make(chain[std::min(i, chain.size() - 1)])...};
    const std::array pointers{&products[i]...};
    execute(std::span(pointers.data(), chain.size()));
  };
  run(std::make_index_sequence<max_chain>());
}

#if HWY_TARGET != HWY_SCALAR  // without vectors, kernels decline

constexpr int rows = 16, columns = 8, quad = 4;

// One vector holds a number for as many of the sixteen rows as fit.
using U32 = hn::CappedTag<std::uint32_t, rows>;
using I32 = hn::Rebind<std::int32_t, U32>;
using F32 = hn::Rebind<float, U32>;
using F64 = hn::Repartition<double, U32>;  // half as many lanes
using I64 = hn::Repartition<std::int64_t, U32>;
constexpr int vector_rows = static_cast<int>(hn::MaxLanes(U32()));

#if HWY_TARGET <= HWY_AVX3

/// words[t][row] = the word of lane t of the row's quad; `low` holds rows 0 to 7, `high` rows 8 to 15.
HWY_INLINE void load_quads(const std::uint32_t* low, const std::uint32_t* high, hn::Vec<U32>* words) {
  const __m512i lanes_01 = _mm512_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28, 1, 5, 9, 13, 17, 21, 25, 29);
  const __m512i lanes_23 = _mm512_setr_epi32(2, 6, 10, 14, 18, 22, 26, 30, 3, 7, 11, 15, 19, 23, 27, 31);
  const __m512i a = _mm512_loadu_si512(low), b = _mm512_loadu_si512(low + 16), c = _mm512_loadu_si512(high),
                d = _mm512_loadu_si512(high + 16);
  const __m512i low_01 = _mm512_permutex2var_epi32(a, lanes_01, b), low_23 = _mm512_permutex2var_epi32(a, lanes_23, b);
  const __m512i high_01 = _mm512_permutex2var_epi32(c, lanes_01, d), high_23 = _mm512_permutex2var_epi32(c, lanes_23, d);
  words[0] = hn::Vec<U32>{_mm512_shuffle_i64x2(low_01, high_01, 0x44)};
  words[1] = hn::Vec<U32>{_mm512_shuffle_i64x2(low_01, high_01, 0xee)};
  words[2] = hn::Vec<U32>{_mm512_shuffle_i64x2(low_23, high_23, 0x44)};
  words[3] = hn::Vec<U32>{_mm512_shuffle_i64x2(low_23, high_23, 0xee)};
}

/// The inverse.
HWY_INLINE void store_quads(const hn::Vec<U32>* words, std::uint32_t* low, std::uint32_t* high) {
  const __m512i rows_0 = _mm512_setr_epi32(0, 8, 16, 24, 1, 9, 17, 25, 2, 10, 18, 26, 3, 11, 19, 27);
  const __m512i rows_4 = _mm512_setr_epi32(4, 12, 20, 28, 5, 13, 21, 29, 6, 14, 22, 30, 7, 15, 23, 31);
  const __m512i low_01 = _mm512_shuffle_i64x2(words[0].raw, words[1].raw, 0x44),
                high_01 = _mm512_shuffle_i64x2(words[0].raw, words[1].raw, 0xee);
  const __m512i low_23 = _mm512_shuffle_i64x2(words[2].raw, words[3].raw, 0x44),
                high_23 = _mm512_shuffle_i64x2(words[2].raw, words[3].raw, 0xee);
  _mm512_storeu_si512(low, _mm512_permutex2var_epi32(low_01, rows_0, low_23));
  _mm512_storeu_si512(low + 16, _mm512_permutex2var_epi32(low_01, rows_4, low_23));
  _mm512_storeu_si512(high, _mm512_permutex2var_epi32(high_01, rows_0, high_23));
  _mm512_storeu_si512(high + 16, _mm512_permutex2var_epi32(high_01, rows_4, high_23));
}

#endif

/// The words of `vector_rows` rows from `row` on: words[t] are those of lane t of each row's quad. `low` holds rows 0 to 7, `high` rows 8
/// to 15.
HWY_INLINE void load_rows(const std::uint32_t* low, const std::uint32_t* high, [[maybe_unused]] int row, hn::Vec<U32>* words) {
#if HWY_TARGET <= HWY_AVX3
  load_quads(low, high, words);
#else
  hn::LoadInterleaved4(U32(), (row < 8 ? low : high) + row % 8 * quad, words[0], words[1], words[2], words[3]);
#endif
}

/// The inverse.
HWY_INLINE void store_rows(const hn::Vec<U32>* words, std::uint32_t* low, std::uint32_t* high, [[maybe_unused]] int row) {
#if HWY_TARGET <= HWY_AVX3
  store_quads(words, low, high);
#else
  hn::StoreInterleaved4(words[0], words[1], words[2], words[3], U32(), (row < 8 ? low : high) + row % 8 * quad);
#endif
}

/// Calls visit(row, words) for as many rows at a time as fit into a vector, with the words of load_rows.
template <class Visit>
HWY_INLINE void for_each_row_vector(const std::uint32_t* low, const std::uint32_t* high, Visit visit) {
  for (int row = 0; row < rows; row += vector_rows) {
    hn::Vec<U32> words[quad];
    load_rows(low, high, row, words);
    visit(row, words);
  }
}

/// The inverse: writes the words that make(row, words) returns.
template <class Make>
HWY_INLINE void store_row_vectors(std::uint32_t* low, std::uint32_t* high, Make make) {
  for (int row = 0; row < rows; row += vector_rows) {
    hn::Vec<U32> words[quad];
    make(row, words);
    store_rows(words, low, high, row);
  }
}

using Word = hn::Vec<U32>;

/// The elements of B that multiply the stored elements of a sparse A. A slot is a stored element, or a pair of packed 4-bit elements. Byte
/// s % 4 of bytes[s / 4][row] belongs to slot s of the row. Each four slots cover eight elements (or pairs) of B along K; the byte is the
/// index, 0 to 7, of the slot's element among these eight.
struct Places {
  HWY_ALIGN std::uint32_t bytes[max_row_words][rows];
};

/// The metadata of each row as read from operand e, lowest slot first: 2 bits a slot, 16 slots a word; for pairs (MetadataPlan::pairs) 4
/// bits a slot, 8 slots a word.
using Codes = std::uint32_t[2][rows];

/// Collects each row's metadata from the lanes and bits that the plan lists.
HWY_INLINE void read_codes(const MetadataPlan& m, const std::uint32_t* e, std::uint32_t selector, Codes& codes) {
  const U32 d;
  const BitPlace& s = m.selectors[selector];
  for (int row = 0; row < rows; row += vector_rows) {
    const auto lane = hn::LoadU(I32(), m.row_lanes.data() + row);
    const Word bit = hn::LoadU(d, m.row_bits.data() + row);
    Word words[2] = {hn::Zero(d), hn::Zero(d)};
    for (int i = 0; i < m.piece_count; ++i) {
      const BitPlace& p = m.pieces[static_cast<std::size_t>(i)];
      const Word found = hn::Shr(hn::GatherIndex(d, e + p.lane + s.lane, lane), hn::Add(bit, hn::Set(d, std::uint32_t{p.bit} + s.bit)));
      const Word piece = hn::And(found, hn::Set(d, m.piece_bits == 32 ? ~0u : (1u << m.piece_bits) - 1));
      Word& word = words[i * m.piece_bits / 32];
      word = hn::Or(word, hn::ShiftLeftSame(piece, i * m.piece_bits % 32));
    }
    for (int i = 0; i < 2; ++i) hn::Store(words[i], d, codes[i] + row);
  }
}

/// `codes` holds a group of metadata in each 4 bits. Bit 0 of each 4 bits of the result is 1 if the ISA defines the group; the other bits
/// are unspecified.
HWY_INLINE Word defined_codes(const MetadataPlan& m, Word codes) {
  const Word bit_0 = codes, bit_1 = hn::ShiftRight<1>(codes), bit_2 = hn::ShiftRight<2>(codes), bit_3 = hn::ShiftRight<3>(codes);
  const Word high_bits_differ = hn::Xor(bit_1, bit_3);
  if (m.pairs) return hn::AndNot(bit_0, hn::AndNot(high_bits_differ, bit_2));  // 0x4 or 0xe: the first or the second element
  if (!m.ordered) return hn::Or(high_bits_differ, hn::Xor(bit_0, bit_2));      // two different places
  const Word low_is_less = hn::AndNot(bit_0, bit_2);
  return hn::Or(hn::AndNot(bit_1, bit_3), hn::AndNot(high_bits_differ, low_is_less));  // two places in ascending order
}

/// The places of the four slots that the lowest bits of `codes` describe, a byte each. A place is an index, 0 to 3, among the four elements
/// (or pairs) of B for two slots; read_places adds 4 for the upper two slots.
HWY_INLINE Word places_of(const MetadataPlan& m, Word codes) {
  const U32 d;
  if (m.pairs) {
    const Word second = hn::ShiftRight<1>(codes);
    const Word low = hn::Or(hn::And(second, hn::Set(d, 1u)), hn::And(hn::ShiftLeft<4>(second), hn::Set(d, 0x100u)));
    const Word high =
        hn::Or(hn::And(hn::ShiftLeft<8>(second), hn::Set(d, 0x10000u)), hn::And(hn::ShiftLeft<12>(second), hn::Set(d, 0x1000000u)));
    return hn::Or(hn::Or(low, high), hn::Set(d, 0x02000200u));
  }
  const Word low = hn::Or(hn::And(codes, hn::Set(d, 3u)), hn::And(hn::ShiftLeft<6>(codes), hn::Set(d, 0x300u)));
  const Word high =
      hn::Or(hn::And(hn::ShiftLeft<12>(codes), hn::Set(d, 0x30000u)), hn::And(hn::ShiftLeft<18>(codes), hn::Set(d, 0x3000000u)));
  return hn::Or(low, high);
}

/// Reads the metadata of every row for its first `slots` slots. Returns false if the ISA does not define the selector or some group.
HWY_INLINE bool read_places(const MetadataPlan& m, const std::uint32_t* e, std::uint32_t selector, int slots, Places& places) {
  if (selector >= static_cast<std::uint32_t>(m.selector_count)) return false;
  const U32 d;
  HWY_ALIGN Codes codes;
  read_codes(m, e, selector, codes);
  const int log_bits = m.pairs ? 4 : 3;  // a word has the codes of two or of four times four slots; by shifts, as divisions take longer
  Word undefined = hn::Zero(d);
  for (int row = 0; row < rows; row += vector_rows)
    for (int four = 0; four < slots / 4; ++four) {
      const int bit = four << log_bits;
      const Word word = hn::ShiftRightSame(hn::Load(d, codes[bit / 32] + row), bit % 32);
      undefined = hn::Or(undefined, hn::AndNot(defined_codes(m, word), hn::Set(d, m.pairs ? 0x1111u : 0x11u)));
      hn::Store(hn::Or(places_of(m, word), hn::Set(d, 0x04040000u)), d, places.bytes[four] + row);
    }
  return hn::AllTrue(d, hn::Eq(undefined, hn::Zero(d)));
}

/// Sign bits are set where a + b = sum has overflowed an int32.
HWY_INLINE hn::Vec<I32> overflow_of(hn::Vec<I32> a, hn::Vec<I32> b, hn::Vec<I32> sum) {
#if HWY_TARGET <= HWY_AVX3
  return hn::Vec<I32>{_mm512_ternarylogic_epi32(a.raw, b.raw, sum.raw, 0x42)};
#else
  return hn::AndNot(hn::Xor(a, b), hn::Xor(a, sum));
#endif
}

/// For each row, the four of the sixteen bytes at `table` selected by places `first` + 0 to 7.
HWY_INLINE Word look_up_bytes(const std::uint32_t* table, int first, const std::uint32_t* places) {
  const hn::Repartition<std::uint8_t, U32> d;
  const auto bytes = hn::LoadDup128(d, reinterpret_cast<const std::uint8_t*>(table));
  const Word at = hn::Or(hn::Load(U32(), places), hn::Set(U32(), 0x01010101u * static_cast<std::uint32_t>(first)));
  return hn::BitCast(U32(), hn::TableLookupBytes(bytes, hn::BitCast(d, at)));
}

/// The exponents of numbers by the rule of dot.h, for a format whose smallest exponent is `least`; `of_zero` for zeros.
HWY_INLINE hn::Vec<I32> exponents(hn::Vec<F32> numbers, int least, int of_zero) {
  const I32 d;
  const auto magnitude = hn::And(hn::BitCast(d, numbers), hn::Set(d, 0x7fffffff));
  const auto exponent = hn::Max(hn::Sub(hn::ShiftRight<23>(magnitude), hn::Set(d, 127)), hn::Set(d, least));
  return hn::IfThenElse(hn::Eq(magnitude, hn::Zero(d)), hn::Set(d, of_zero), exponent);
}

/// `v` toward zero. Precondition: it is in the range of an int32.
HWY_INLINE hn::Vec<I32> truncate(hn::Vec<F32> v) {
#if HWY_TARGET <= HWY_AVX3
  return hn::Vec<I32>{_mm512_cvttps_epi32(v.raw)};
#elif HWY_TARGET == HWY_AVX2
  return hn::Vec<I32>{_mm256_cvttps_epi32(v.raw)};
#else
  return hn::ConvertTo(I32(), v);
#endif
}

HWY_INLINE hn::Vec<F64> lower_to_f64(hn::Vec<I32> v) {
  return hn::PromoteTo(F64(), hn::LowerHalf(v));
}
HWY_INLINE hn::Vec<F64> upper_to_f64(hn::Vec<I32> v) {
  return hn::PromoteTo(F64(), hn::UpperHalf(hn::Half<I32>(), v));
}

/// 2^exponent, for exponents of normal floats or doubles.
HWY_INLINE hn::Vec<F32> power_of_two(hn::Vec<I32> exponent) {
  return hn::BitCast(F32(), hn::ShiftLeft<23>(hn::Add(exponent, hn::Set(I32(), 127))));
}
HWY_INLINE hn::Vec<F64> power_of_two(hn::Vec<I64> exponent) {
  return hn::BitCast(F64(), hn::ShiftLeft<52>(hn::Add(exponent, hn::Set(I64(), 1023))));
}
HWY_INLINE hn::Vec<F64> lower_power_of_two(hn::Vec<I32> exponent) {
  return power_of_two(hn::PromoteTo(I64(), hn::LowerHalf(exponent)));
}
HWY_INLINE hn::Vec<F64> upper_power_of_two(hn::Vec<I32> exponent) {
  return power_of_two(hn::PromoteTo(I64(), hn::UpperHalf(hn::Half<I32>(), exponent)));
}

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace
}  // namespace warpmat::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

/// Unrolls the loop that follows, `count` times. WARPMAT_DO_NOT_UNROLL disables it, for builds that need not be fast.
#undef WARPMAT_UNROLL
#ifdef WARPMAT_DO_NOT_UNROLL
#define WARPMAT_UNROLL(count)
#else
#define WARPMAT_UNROLL(count) HWY_UNROLL(count)
#endif

#endif
