// Words of lanes in the caller's storage, for kernels that read and write them there and for lane_registers.cpp; included once for each
// instruction set, as vectors-inl.h is.
//
// Four lanes' pieces of up to four registers form a 4x4 matrix of words, which is transposed in vectors: as many matrices at once as a
// vector of lanes has blocks of 128 bits.

#if defined(WARPMAT_FAST_LANE_WORDS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WARPMAT_FAST_LANE_WORDS_INL_H_
#undef WARPMAT_FAST_LANE_WORDS_INL_H_
#else
#define WARPMAT_FAST_LANE_WORDS_INL_H_
#endif

#include <cstring>

#include <warpmat/execute/fast/fast.h>
#include <warpmat/execute/fast/vectors-inl.h>

HWY_BEFORE_NAMESPACE();
namespace warpmat::HWY_NAMESPACE {
namespace {

#if HWY_TARGET != HWY_SCALAR

using Piece = hn::Full128<std::uint32_t>;  // up to four registers of one lane

/// The `words` words at `from`, repeated until the vector is full.
template <int words>
HWY_INLINE hn::Vec<Piece> load_piece(const std::uint32_t* from) {
  if constexpr (words == 4) return hn::LoadU(Piece(), from);
  if constexpr (words == 1) return hn::Set(Piece(), *from);
  std::uint64_t two;
  std::memcpy(&two, from, sizeof two);
  return hn::BitCast(Piece(), hn::Set(hn::Full128<std::uint64_t>(), two));
}

template <int words>
HWY_INLINE void store_piece(hn::Vec<Piece> piece, std::uint32_t* to) {
  if constexpr (words == 4) return hn::StoreU(piece, Piece(), to);
  if constexpr (words == 1) {
    *to = hn::GetLane(piece);
    return;
  }
  const std::uint64_t two = hn::GetLane(hn::BitCast(hn::Full128<std::uint64_t>(), piece));
  std::memcpy(to, &two, sizeof two);
}

/// The pieces of lanes 0, 4, 8, … from `from` on, as many as the vectors of `d` hold.
template <int words, class D>
HWY_INLINE hn::Vec<D> load_every_fourth(D d, const std::uint32_t* from, std::ptrdiff_t lane_stride) {
  if constexpr (hn::MaxLanes(d) == 4) {
    return load_piece<words>(from);
  } else {
    const hn::Half<D> half;
    constexpr auto lanes_of_half = static_cast<std::ptrdiff_t>(hn::MaxLanes(half));
    return hn::Combine(d, load_every_fourth<words>(half, from + lanes_of_half * lane_stride, lane_stride),
                       load_every_fourth<words>(half, from, lane_stride));
  }
}

template <int words, class D>
HWY_INLINE void store_every_fourth(D d, hn::Vec<D> pieces, std::uint32_t* to, std::ptrdiff_t lane_stride) {
  if constexpr (hn::MaxLanes(d) == 4) {
    store_piece<words>(pieces, to);
  } else {
    const hn::Half<D> half;
    constexpr auto lanes_of_half = static_cast<std::ptrdiff_t>(hn::MaxLanes(half));
    store_every_fourth<words>(half, hn::LowerHalf(half, pieces), to, lane_stride);
    store_every_fourth<words>(half, hn::UpperHalf(half, pieces), to + lanes_of_half * lane_stride, lane_stride);
  }
}

/// Transposes the 4x4 matrices of words; block b of vectors[i] is row i of matrix b.
HWY_INLINE void transpose_blocks(Word* vectors) {
  const hn::Repartition<std::uint64_t, U32> d64;
  const auto even_low = hn::BitCast(d64, hn::InterleaveLower(vectors[0], vectors[1])),
             even_high = hn::BitCast(d64, hn::InterleaveUpper(U32(), vectors[0], vectors[1])),
             odd_low = hn::BitCast(d64, hn::InterleaveLower(vectors[2], vectors[3])),
             odd_high = hn::BitCast(d64, hn::InterleaveUpper(U32(), vectors[2], vectors[3]));
  vectors[0] = hn::BitCast(U32(), hn::InterleaveLower(even_low, odd_low));
  vectors[1] = hn::BitCast(U32(), hn::InterleaveUpper(d64, even_low, odd_low));
  vectors[2] = hn::BitCast(U32(), hn::InterleaveLower(even_high, odd_high));
  vectors[3] = hn::BitCast(U32(), hn::InterleaveUpper(d64, even_high, odd_high));
}

#if HWY_TARGET <= HWY_AVX3

// Inserting from memory and blending by constants need neither a shuffle nor a mask, of which there are few.

/// Like load_every_fourth.
HWY_INLINE Word load_four_words(const std::uint32_t* from, std::ptrdiff_t lane_stride) {
  const std::ptrdiff_t four = 4 * lane_stride, twelve = 3 * four;  // for the CPU's addressing modes
  const auto piece = [&](std::ptrdiff_t at) HWY_ATTR { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + at)); };
  __m512i pieces = _mm512_castsi128_si512(piece(0));
  pieces = _mm512_inserti32x4(pieces, piece(four), 1);
  pieces = _mm512_inserti32x4(pieces, piece(2 * four), 2);
  return Word{_mm512_inserti32x4(pieces, piece(twelve), 3)};
}

/// The two words of each of four lanes, adjacent.
HWY_INLINE __m256i load_four_pairs(const std::uint32_t* from, std::ptrdiff_t lane_stride, std::ptrdiff_t three) {
  const auto pair = [&](std::ptrdiff_t at) HWY_ATTR { return _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from + at)); };
  const __m256i low = _mm256_blend_epi32(_mm256_castsi128_si256(pair(0)), _mm256_broadcastq_epi64(pair(lane_stride)), 0x0c);
  const __m256i high = _mm256_blend_epi32(_mm256_broadcastq_epi64(pair(2 * lane_stride)), _mm256_broadcastq_epi64(pair(three)), 0xc0);
  return _mm256_blend_epi32(low, high, 0xf0);
}

/// The two words of each of eight lanes, adjacent.
HWY_INLINE __m512i load_pairs(const std::uint32_t* from, std::ptrdiff_t lane_stride) {
  const std::ptrdiff_t three = 3 * lane_stride;
  const __m256i low = load_four_pairs(from, lane_stride, three), high = load_four_pairs(from + 4 * lane_stride, lane_stride, three);
  return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}

/// One word of each of sixteen lanes.
HWY_INLINE __m512i load_words(const std::uint32_t* from, std::ptrdiff_t lane_stride) {
  const std::ptrdiff_t three = 3 * lane_stride;
  const auto four = [&](const std::uint32_t* first) HWY_ATTR {
    const auto word = [&](std::ptrdiff_t at) HWY_ATTR { return _mm_set1_epi32(static_cast<int>(first[at])); };
    return _mm_blend_epi32(_mm_blend_epi32(word(0), word(lane_stride), 0x2), _mm_blend_epi32(word(2 * lane_stride), word(three), 0x8), 0xc);
  };
  const std::ptrdiff_t next = 4 * lane_stride;
  const __m256i low = _mm256_inserti128_si256(_mm256_castsi128_si256(four(from)), four(from + next), 1),
                high = _mm256_inserti128_si256(_mm256_castsi128_si256(four(from + 2 * next)), four(from + 3 * next), 1);
  return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}

template <int words>
HWY_INLINE void gather_block(const std::uint32_t* from, std::ptrdiff_t lane_stride, Register* to) {
  for (int lane = 0; lane < warp_size; lane += vector_rows, from += vector_rows * lane_stride) {
    if constexpr (words == 4) {
      Word vectors[4];
      for (int i = 0; i < 4; ++i) vectors[i] = load_four_words(from + i * lane_stride, lane_stride);
      transpose_blocks(vectors);
      for (int i = 0; i < 4; ++i) hn::Store(vectors[i], U32(), to[i].data() + lane);
    } else if constexpr (words == 2) {
      const __m512i lower = load_pairs(from, lane_stride), upper = load_pairs(from + 8 * lane_stride, lane_stride);
      HWY_ALIGN static constexpr std::uint32_t even[] = {0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30};
      const __m512i first = _mm512_load_si512(even), second = _mm512_or_si512(first, _mm512_set1_epi32(1));
      hn::Store(Word{_mm512_permutex2var_epi32(lower, first, upper)}, U32(), to[0].data() + lane);
      hn::Store(Word{_mm512_permutex2var_epi32(lower, second, upper)}, U32(), to[1].data() + lane);
    } else {
      hn::Store(Word{load_words(from, lane_stride)}, U32(), to[0].data() + lane);
    }
  }
}

#else

#if HWY_TARGET == HWY_AVX2

/// The two words of each of eight lanes, word by word.
HWY_INLINE void load_two_words(const std::uint32_t* from, std::ptrdiff_t lane_stride, Word* words) {
  const auto pairs = [&](const std::uint32_t* first) HWY_ATTR {  // of two lanes
    const __m128i low = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(first));
    return _mm_castps_si128(_mm_loadh_pi(_mm_castsi128_ps(low), reinterpret_cast<const __m64*>(first + lane_stride)));
  };
  const auto four = [&](const std::uint32_t* first) HWY_ATTR {  // lanes 0 and 1, then lanes 4 and 5
    return _mm256_castsi256_ps(_mm256_inserti128_si256(_mm256_castsi128_si256(pairs(first)), pairs(first + 4 * lane_stride), 1));
  };
  const __m256 a = four(from), b = four(from + 2 * lane_stride);
  words[0] = Word{_mm256_castps_si256(_mm256_shuffle_ps(a, b, 0x88))};
  words[1] = Word{_mm256_castps_si256(_mm256_shuffle_ps(a, b, 0xdd))};
}

#endif

template <int words>
HWY_INLINE void gather_block(const std::uint32_t* from, std::ptrdiff_t lane_stride, Register* to) {
  for (int lane = 0; lane < warp_size; lane += vector_rows) {
    Word vectors[4];
#if HWY_TARGET == HWY_AVX2
    if constexpr (words == 2) {
      load_two_words(from + lane * lane_stride, lane_stride, vectors);
      for (int i = 0; i < words; ++i) hn::Store(vectors[i], U32(), to[i].data() + lane);
      continue;
    }
#endif
    for (int i = 0; i < 4; ++i) vectors[i] = load_every_fourth<words>(U32(), from + (lane + i) * lane_stride, lane_stride);
    transpose_blocks(vectors);
    for (int i = 0; i < words; ++i) hn::Store(vectors[i], U32(), to[i].data() + lane);
  }
}

#endif  // HWY_TARGET <= HWY_AVX3

#if HWY_TARGET <= HWY_AVX3

/// Word `lower` of four rows, then `upper` of them, in places 0 to 7 and 8 to 15: from vectors that hold four words of each row.
HWY_INLINE __m512i places_of_words(int lower, int upper) {
  const __m512i of_rows = _mm512_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28, 0, 4, 8, 12, 16, 20, 24, 28);
  return _mm512_add_epi32(of_rows, _mm512_mask_set1_epi32(_mm512_set1_epi32(lower), 0xff00, upper));
}

/// Calls visit(pair, t, row, words) with the words of lane t of the quads of rows `row` on. Lanes have four words, in two pairs: each has
/// rows 0 to 7 in one word, 8 to 15 in another. The pairs of an accumulator are words 0 and 2, 1 and 3; those of A 0 and 1, 2 and 3.
template <bool accumulator, class Visit>
HWY_INLINE void for_each_row_vector(const ConstRegisterView& lanes, Visit visit) {
  const std::uint32_t* from = lanes.words();
  const __m512i first = places_of_words(0, accumulator ? 2 : 1), second = places_of_words(accumulator ? 1 : 2, 3);
  const std::uint32_t* from_high = from + 16 * lanes.lane_stride();
  WARPMAT_UNROLL(4)
  for (int t = 0; t < quad; ++t, from += lanes.lane_stride(), from_high += lanes.lane_stride()) {
    const __m512i low = load_four_words(from, lanes.lane_stride()).raw, high = load_four_words(from_high, lanes.lane_stride()).raw;
    visit(0, t, 0, Word{_mm512_permutex2var_epi32(low, first, high)});
    visit(1, t, 0, Word{_mm512_permutex2var_epi32(low, second, high)});
  }
}

/// Writes a result, d[column][row], to the lanes' four words.
HWY_INLINE void store_result(const std::uint32_t (*d)[rows], const RegisterView& lanes) {
  std::uint32_t* to = lanes.words();
  const __m512i low = _mm512_setr_epi32(0, 16, 8, 24, 1, 17, 9, 25, 2, 18, 10, 26, 3, 19, 11, 27);
  const __m512i high = _mm512_add_epi32(low, _mm512_set1_epi32(4));
  for (int t = 0; t < quad; ++t, to += lanes.lane_stride()) {
    const Word even = hn::Load(U32(), d[2 * t]), odd = hn::Load(U32(), d[2 * t + 1]);
    store_every_fourth<4>(U32(), Word{_mm512_permutex2var_epi32(even.raw, low, odd.raw)}, to, lanes.lane_stride());
    store_every_fourth<4>(U32(), Word{_mm512_permutex2var_epi32(even.raw, high, odd.raw)}, to + 16 * lanes.lane_stride(),
                          lanes.lane_stride());
  }
}

#else

/// Calls visit(pair, t, row, words) with the words of lane t of the quads of rows `row` on. Lanes have four words, in two pairs: each has
/// rows 0 to 7 in one word, 8 to 15 in another. The pairs of an accumulator are words 0 and 2, 1 and 3; those of A 0 and 1, 2 and 3.
template <bool accumulator, class Visit>
HWY_INLINE void for_each_row_vector(const ConstRegisterView& lanes, Visit visit) {
  const std::uint32_t* from = lanes.words();
  const std::ptrdiff_t row_stride = quad * lanes.lane_stride(), three = 3 * row_stride;  // for the CPU's addressing modes
  for (int t = 0; t < quad; ++t, from += lanes.lane_stride())
    for (int row = 0; row < rows / 2; row += vector_rows) {
      const std::uint32_t* const first = from + row * row_stride;
      Word vectors[4] = {load_every_fourth<4>(U32(), first, row_stride), load_every_fourth<4>(U32(), first + row_stride, row_stride),
                         load_every_fourth<4>(U32(), first + 2 * row_stride, row_stride),
                         load_every_fourth<4>(U32(), first + three, row_stride)};
      transpose_blocks(vectors);
      WARPMAT_UNROLL(4)
      for (int i = 0; i < 4; ++i) visit(accumulator ? i % 2 : i / 2, t, row + (accumulator ? i / 2 : i % 2) * (rows / 2), vectors[i]);
    }
}

/// Writes a result, d[column][row], to the lanes' four words.
HWY_INLINE void store_result(const std::uint32_t (*d)[rows], const RegisterView& lanes) {
  const std::ptrdiff_t row_stride = quad * lanes.lane_stride(), three = 3 * row_stride;
  std::uint32_t* to = lanes.words();
  for (int t = 0; t < quad; ++t, to += lanes.lane_stride())
    for (int row = 0; row < rows / 2; row += vector_rows) {
      Word vectors[4];
      WARPMAT_UNROLL(4)
      for (int i = 0; i < 4; ++i) vectors[i] = hn::Load(U32(), d[2 * t + i % 2] + i / 2 * (rows / 2) + row);
      transpose_blocks(vectors);
      std::uint32_t* const first = to + row * row_stride;
      store_every_fourth<4>(U32(), vectors[0], first, row_stride);
      store_every_fourth<4>(U32(), vectors[1], first + row_stride, row_stride);
      store_every_fourth<4>(U32(), vectors[2], first + 2 * row_stride, row_stride);
      store_every_fourth<4>(U32(), vectors[3], first + three, row_stride);
    }
}

#endif  // HWY_TARGET <= HWY_AVX3

/// Copies 1, 2 or 4 words of each lane to registers.
HWY_INLINE void load_registers(const ConstRegisterView& lanes, int words, Register* to) {
  switch (words) {
    case 1: return gather_block<1>(lanes.words(), lanes.lane_stride(), to);
    case 2: return gather_block<2>(lanes.words(), lanes.lane_stride(), to);
    default: return gather_block<4>(lanes.words(), lanes.lane_stride(), to);
  }
}

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace
}  // namespace warpmat::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
