// Decoding of floating-point elements of A and B; included once for each instruction set, as vectors-inl.h is.

#if defined(WARPMAT_FAST_ELEMENTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WARPMAT_FAST_ELEMENTS_INL_H_
#undef WARPMAT_FAST_ELEMENTS_INL_H_
#else
#define WARPMAT_FAST_ELEMENTS_INL_H_
#endif

#include <warpmat/execute/fast/bounds.h>
#include <warpmat/execute/fast/vectors-inl.h>

HWY_BEFORE_NAMESPACE();
namespace warpmat::HWY_NAMESPACE {
namespace {

#if HWY_TARGET != HWY_SCALAR

#if HWY_TARGET == HWY_SSE4  // no f16 instructions; Highway's substitute has no infinities

/// f16 numbers in the low halves of words.
HWY_INLINE hn::Vec<F32> f16_to_f32(Word words) {
  const U32 d;
  const Word magnitude = hn::And(words, hn::Set(d, 0x7fffu)), sign = hn::ShiftLeft<16>(hn::And(words, hn::Set(d, 0x8000u)));
  const Word rebiased = hn::Add(hn::ShiftLeft<13>(magnitude), hn::Set(d, 112u << 23));
  const Word special = hn::Add(rebiased, hn::Set(d, 112u << 23));
  const Word subnormal = hn::BitCast(d, hn::Mul(hn::ConvertTo(F32(), hn::BitCast(I32(), magnitude)), hn::Set(F32(), 0x1p-24f)));
  Word out = hn::IfThenElse(hn::Gt(magnitude, hn::Set(d, 0x7bffu)), special, rebiased);
  out = hn::IfThenElse(hn::Lt(magnitude, hn::Set(d, 0x400u)), subnormal, out);
  return hn::BitCast(F32(), hn::Or(out, sign));
}

#else

/// f16 numbers in the low halves of words.
HWY_INLINE hn::Vec<F32> f16_to_f32(Word words) {
  const hn::Rebind<std::uint16_t, U32> d16;
  return hn::PromoteTo(F32(), hn::BitCast(hn::Rebind<hwy::float16_t, F32>(), hn::TruncateTo(d16, words)));
}

#endif

#if HWY_TARGET == HWY_SSE4 || HWY_ARCH_ARM  // no instruction rounds to nearest in every mode

/// To nearest, ties to even; +0 for a zero.
HWY_INLINE Word f32_to_f16(hn::Vec<F32> v) {
  const U32 d;
  const Word one = hn::Set(d, 1u);
  const Word magnitude = hn::And(hn::BitCast(d, v), hn::Set(d, 0x7fffffffu));
  const Word sign = hn::And(hn::ShiftRight<16>(hn::BitCast(d, v)), hn::Set(d, 0x8000u));
  const Word odd = hn::And(hn::ShiftRight<13>(magnitude), one);
  Word out = hn::ShiftRight<13>(hn::Sub(hn::Add(hn::Add(magnitude, hn::Set(d, 0xfffu)), odd), hn::Set(d, 112u << 23)));
  // A subnormal result is a multiple of 2^-24.
  const Word exponent = hn::Min(hn::ShiftRight<23>(magnitude), hn::Set(d, 112u));
  const Word shift = hn::Min(hn::Sub(hn::Set(d, 126u), exponent), hn::Set(d, 31u));
  const Word significand = hn::Or(hn::And(magnitude, hn::Set(d, 0x7fffffu)), hn::Set(d, 0x800000u));
  const Word half = hn::Sub(hn::Shl(one, hn::Sub(shift, one)), one);
  const Word subnormal = hn::Shr(hn::Add(hn::Add(significand, half), hn::And(hn::Shr(significand, shift), one)), shift);
  out = hn::IfThenElse(hn::Lt(magnitude, hn::Set(d, 113u << 23)), subnormal, out);
  out = hn::IfThenElse(hn::Gt(magnitude, hn::Set(d, 0x477fffffu)), hn::Set(d, 0x7c00u), out);
  out = hn::IfThenElse(hn::Gt(magnitude, hn::Set(d, 0x7f800000u)), hn::Set(d, 0x7e00u), out);
  return hn::IfThenElseZero(hn::Ne(out, hn::Zero(d)), hn::Or(out, sign));
}

#else

/// To nearest, ties to even; +0 for a zero.
HWY_INLINE Word f32_to_f16(hn::Vec<F32> v) {
  const hn::Rebind<std::uint16_t, F32> du16;
  const Word out = hn::PromoteTo(U32(), hn::BitCast(du16, hn::DemoteTo(hn::Rebind<hwy::float16_t, F32>(), v)));
  return hn::IfThenZeroElse(hn::Eq(out, hn::Set(U32(), 0x8000u)), out);
}

#endif

/// f16 numbers that are consecutive in memory.
HWY_INLINE hn::Vec<F32> load_f16(const std::uint16_t* from) {
  const hn::Rebind<std::uint16_t, U32> d16;
#if HWY_TARGET == HWY_SSE4
  return f16_to_f32(hn::PromoteTo(U32(), hn::LoadU(d16, from)));
#else
  return hn::PromoteTo(F32(), hn::BitCast(hn::Rebind<hwy::float16_t, F32>(), hn::LoadU(d16, from)));
#endif
}

/// Whether f32 numbers are infinite or NaN.
HWY_INLINE hn::Mask<U32> is_special(Word number) {
#if HWY_TARGET <= HWY_AVX3
  constexpr int nans = 0x81, infinities = 0x18;
  return hn::Mask<U32>{_mm512_fpclass_ps_mask(_mm512_castsi512_ps(number.raw), nans | infinities)};
#else
  const Word exponent = hn::Set(U32(), 0x7f800000u);
  return hn::Eq(hn::And(number, exponent), exponent);
#endif
}

/// Whether words have none of the bits `mask`.
HWY_INLINE hn::Mask<U32> has_no(std::int32_t mask, Word words) {
#if HWY_TARGET <= HWY_AVX3
  return hn::Mask<U32>{_mm512_testn_epi32_mask(words.raw, _mm512_set1_epi32(mask))};
#else
  return hn::Eq(hn::And(words, hn::Set(U32(), static_cast<std::uint32_t>(mask))), hn::Zero(U32()));
#endif
}

/// Whether f32 numbers are zeros, of either sign. The CPU may take subnormal numbers for such.
HWY_INLINE hn::Mask<U32> is_zero(Word number) {
  return has_no(INT32_MAX, number);
}

struct FloatPair {
  hn::Vec<F32> low, high;
};

/// The f16 numbers in the low and in the high halves of words.
HWY_INLINE FloatPair f16_halves_to_f32(Word words) {
#if HWY_TARGET <= HWY_AVX3
  HWY_ALIGN static constexpr std::uint16_t low_then_high[] = {0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30,
                                                              1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31};
  const __m512i halves = _mm512_permutexvar_epi16(_mm512_load_si512(low_then_high), words.raw);
  return {hn::Vec<F32>{_mm512_cvtph_ps(_mm512_castsi512_si256(halves))},
          hn::Vec<F32>{_mm512_cvtph_ps(_mm512_extracti64x4_epi64(halves, 1))}};
#else
  return {f16_to_f32(words), f16_to_f32(hn::ShiftRight<16>(words))};
#endif
}

/// Decodes vectors of words with elements of A or B. `wide` formats have the exponents of f32, others at most those of f16.
template <int bits, bool wide>
class Decoder {
 public:
  static constexpr int per = 32 / bits;
  using D = hn::Repartition<std::conditional_t<bits == 8, std::uint8_t, std::conditional_t<bits == 16, std::uint16_t, std::uint32_t>>, U32>;
  using T = hn::TFromD<D>;
  using S = hn::RebindToSigned<D>;
  using TS = hn::TFromD<S>;
  using S8 = hn::Repartition<std::int8_t, U32>;

  /// Adds `offset` to exponents.
  HWY_ATTR Decoder(const Elements& e, int offset)
      : e_(e),
        magnitude_(magnitude_mask(e)),
        bias_(hn::Set(S(), static_cast<TS>(e.bias - offset))),
        zero_exponent_(hn::Set(S(), static_cast<TS>(bounds::no_byte_exponent + offset))),
        subnormal_exponents_(hn::Add(hn::LoadDup128(S8(), e.subnormal_exponents.data()), hn::Set(S8(), static_cast<std::int8_t>(offset)))) {
  }

  /// The magnitudes of the elements, packed as in the words. Updates `most`, the maximum so far.
  HWY_INLINE Word magnitudes(Word words, Word& most) const {
    if (bits == 8 && e_.shift != 0) words = hn::ShiftRightSame(words, e_.shift);
    words = hn::And(words, magnitude_);
    most = larger(most, words);
    return words;
  }

  /// The larger one of each two magnitudes.
  HWY_INLINE static Word larger(Word a, Word b) { return hn::BitCast(U32(), hn::Max(hn::BitCast(D(), a), hn::BitCast(D(), b))); }

  /// Whether all magnitudes are finite.
  HWY_INLINE bool finite(Word most) const { return at_most(most, e_.largest); }

  /// All bits of words with a magnitude that is a NaN, no bit of others.
  HWY_INLINE Word nans(Word most) const { return words_above(most, largest_but_nans()); }

  /// The same for infinities and NaNs.
  HWY_INLINE Word specials(Word most) const { return words_above(most, e_.largest); }

  /// Whether all magnitudes are in the range of the common case, or, for narrow formats, special. A part of a word with only tiny ones,
  /// whose products would be too small, is not.
  HWY_INLINE bool common_case(Word most) const {
    if constexpr (!wide) return true;
    const D d;
    const auto m = hn::BitCast(d, most);
    constexpr int least = bounds::min_plain_product;
    const auto above = hn::Sub(m, hn::Set(d, static_cast<T>((e_.bias + least) << exponent_shift)));  // huge for smaller ones
    const auto outside = hn::Gt(above, hn::Set(d, static_cast<T>((bounds::plain_exponent - least) << exponent_shift)));
    return hn::AllFalse(d, hn::And(outside, hn::Ne(m, hn::Zero(d))));
  }

  /// Exponents plus the offset, packed as the magnitudes. A wide zero has the exponent of the smallest subnormals.
  HWY_INLINE Word exponents(Word magnitudes) const {
    const S d;
    const auto m = hn::BitCast(d, magnitudes);
    if constexpr (bits == 8) {
      const auto field = hn::And(hn::BitCast(d, hn::ShiftRightSame(magnitudes, e_.fraction_bits)),
                                 hn::Set(d, static_cast<TS>((1 << e_.exponent_bits) - 1)));
      const auto fraction = hn::And(m, hn::Set(d, static_cast<TS>((1 << e_.fraction_bits) - 1)));
      const auto subnormal = hn::TableLookupBytes(subnormal_exponents_, fraction);
      return hn::BitCast(U32(), hn::IfThenElse(hn::Eq(field, hn::Zero(d)), subnormal, hn::Sub(field, bias_)));
    } else {
      const auto field = hn::ShiftRight<exponent_shift>(m);
      if (wide) return hn::BitCast(U32(), hn::Sub(field, bias_));
      const auto exponent = hn::Sub(hn::Max(field, hn::Set(d, TS{1})), bias_);
      return hn::BitCast(U32(), hn::IfThenElse(hn::Eq(m, hn::Zero(d)), zero_exponent_, exponent));
    }
  }

  /// Calls store(i, v) with element i of each word, for all i.
  template <class Store>
  HWY_INLINE void each_value(Word words, Store store) const {
    if constexpr (bits == 32) store(0, tf32(words));
    if constexpr (bits == 16) {
      const FloatPair pair = wide ? bf16_halves_to_f32(words) : f16_halves_to_f32(words);
      store(0, pair.low);
      store(1, pair.high);
    }
    if constexpr (bits == 8) {
      const auto halves = hn::BitCast(U16(), words);
      const FloatPair even = f16_halves_to_f32(hn::BitCast(U32(), bytes_to_f16(halves)));
      const FloatPair odd = f16_halves_to_f32(hn::BitCast(U32(), bytes_to_f16(hn::ShiftRight<8>(halves))));
      store(0, even.low);
      store(1, odd.low);
      store(2, even.high);
      store(3, odd.high);
    }
  }

  /// Decodes a vector of words of consecutive elements.
  HWY_INLINE void store_values(const std::uint32_t* words, float* to) const {
    if constexpr (bits == 32) hn::StoreU(tf32(hn::LoadU(U32(), words)), F32(), to);
    const auto* halves = reinterpret_cast<const std::uint16_t*>(words);
    if constexpr (bits == 16)
      for (int i = 0; i < 2 * vector_rows; i += vector_rows) hn::StoreU(wide ? load_bf16(halves + i) : load_f16(halves + i), F32(), to + i);
    if constexpr (bits == 8) {
      const auto* bytes = reinterpret_cast<const std::uint8_t*>(words);
      HWY_ALIGN std::uint16_t f16[2 * vector_rows];
      for (int i = 0; i < 4 * vector_rows; i += 2 * vector_rows) {
        hn::Store(bytes_to_f16(hn::PromoteTo(U16(), hn::LoadU(hn::Rebind<std::uint8_t, U16>(), bytes + i))), U16(), f16);
        hn::StoreU(load_f16(f16), F32(), to + i);
        hn::StoreU(load_f16(f16 + vector_rows), F32(), to + i + vector_rows);
      }
    }
  }

  /// Replaces the number decoded from a format's only NaN code by a NaN, in `count` values, a multiple of vector_rows.
  HWY_INLINE void mark_nans(float* values, int count) const {
    if (!e_.has_one_nan) return;
    HWY_ALIGN std::uint16_t f16[2 * vector_rows];
    hn::Store(bytes_to_f16(hn::And(hn::BitCast(U16(), magnitude_), hn::Set(U16(), std::uint16_t{0xff}))), U16(), f16);
    const auto read_as = load_f16(f16);
    for (int i = 0; i < count; i += vector_rows) {
      const auto v = hn::Load(F32(), values + i);
      hn::Store(hn::IfThenElse(hn::Eq(hn::Abs(v), read_as), hn::NaN(F32()), v), F32(), values + i);
    }
  }

 private:
  using U16 = hn::Repartition<std::uint16_t, U32>;

  /// The exponent's bits and the first of them, in a container of 16 or 32 bits.
  static constexpr int exponent_bits = wide ? 8 : 5, exponent_shift = bits == 8 ? 0 : bits - 1 - exponent_bits;

  HWY_INLINE static bool at_most(Word most, int limit) {
    const D d;
    return hn::AllFalse(d, hn::Gt(hn::BitCast(d, most), hn::Set(d, static_cast<T>(limit))));
  }

  /// The magnitude of infinity; of the largest number if the format has none. Formats without NaNs have no larger one either.
  HWY_INLINE int largest_but_nans() const {
    if constexpr (bits == 8) return e_.has_one_nan ? e_.largest : e_.largest + 1;
    return ((1 << exponent_bits) - 1) << exponent_shift;
  }

  HWY_INLINE static Word words_above(Word most, int limit) {
    const D d;
    const Word above = hn::BitCast(U32(), hn::VecFromMask(d, hn::Gt(hn::BitCast(d, most), hn::Set(d, static_cast<T>(limit)))));
    return hn::VecFromMask(U32(), hn::Ne(above, hn::Zero(U32())));
  }

  HWY_INLINE static Word magnitude_mask(const Elements& e) {
    if (bits == 32) return hn::Set(U32(), 0x7fffe000u);  // tf32
    if (bits == 16) return hn::Set(U32(), 0x7fff7fffu);
    return hn::Set(U32(), 0x01010101u * ((1u << (e.bits - 1)) - 1));
  }

  HWY_INLINE static hn::Vec<F32> tf32(Word words) { return hn::BitCast(F32(), hn::And(words, hn::Set(U32(), 0xffffe000u))); }
  HWY_INLINE static FloatPair bf16_halves_to_f32(Word words) {
    return {hn::BitCast(F32(), hn::ShiftLeft<16>(words)), hn::BitCast(F32(), hn::And(words, hn::Set(U32(), 0xffff0000u)))};
  }
  HWY_INLINE static hn::Vec<F32> load_bf16(const std::uint16_t* from) {
    return hn::BitCast(F32(), hn::ShiftLeft<16>(hn::PromoteTo(U32(), hn::LoadU(hn::Rebind<std::uint16_t, U32>(), from))));
  }

  /// Elements in the low bytes of 16-bit lanes. The results are too small by 2^(15 − bias), and a format's only NaN becomes a number.
  HWY_INLINE hn::Vec<U16> bytes_to_f16(hn::Vec<U16> bytes) const {
    const U16 d;
    const int sign_bit = e_.shift + e_.bits - 1;
    const auto mask = static_cast<std::uint16_t>((1 << sign_bit) - (1 << e_.shift));
    const auto magnitude = hn::And(bytes, hn::Set(d, mask));
    const auto f16 = hn::Mul(magnitude, hn::Set(d, static_cast<std::uint16_t>(1 << (10 - e_.fraction_bits - e_.shift))));
    const auto sign = hn::And(bytes, hn::Set(d, static_cast<std::uint16_t>(1 << sign_bit)));
    return hn::Or(f16, hn::Mul(sign, hn::Set(d, static_cast<std::uint16_t>(1 << (15 - sign_bit)))));
  }

  const Elements& e_;
  const Word magnitude_;
  const hn::Vec<S> bias_, zero_exponent_;
  const hn::Vec<S8> subnormal_exponents_;  ///< of bytes, in each 16
};

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace
}  // namespace warpmat::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
