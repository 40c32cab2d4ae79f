// How elements of A and B in floating point are decoded; included once for each instruction set, as vectors-inl.h is.

#if defined(WARPMAT_FAST_ELEMENTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WARPMAT_FAST_ELEMENTS_INL_H_
#undef WARPMAT_FAST_ELEMENTS_INL_H_
#else
#define WARPMAT_FAST_ELEMENTS_INL_H_
#endif

#include "vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace warpmat::HWY_NAMESPACE {
namespace {

#if HWY_TARGET != HWY_SCALAR

/// Stands for the exponent of a zero: a sum with it is below that of all products, also where sums saturate.
constexpr int zero_exponent = -95;
/// Exponents of bf16 and tf32 that the usual case takes: the sum of two and a zero's are told apart, and products fit into a float.
constexpr int plain_exponent = 30;

#if HWY_TARGET == HWY_SSE4  // without the instructions; what Highway has instead knows no infinities

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

/// f16 numbers in the low halves of words.
HWY_INLINE hn::Vec<F32> f16_to_f32(Word words) {
  const hn::Rebind<std::uint16_t, U32> d16;
  return hn::PromoteTo(F32(), hn::BitCast(hn::Rebind<hwy::float16_t, F32>(), hn::TruncateTo(d16, words)));
}

/// To nearest, ties to even; +0 for a zero.
HWY_INLINE Word f32_to_f16(hn::Vec<F32> v) {
  const hn::Rebind<std::uint16_t, F32> du16;
  const Word out = hn::PromoteTo(U32(), hn::BitCast(du16, hn::DemoteTo(hn::Rebind<hwy::float16_t, F32>(), v)));
  return hn::IfThenZeroElse(hn::Eq(out, hn::Set(U32(), 0x8000u)), out);
}

#endif

/// Collects whether elements are outside of the usual case.
struct Range {
  Word least_below, most;  ///< of the magnitudes, as packed as the elements are; least_below is one less, so that zeros do not count
};

/// Decodes vectors of words with elements of A or B.
template <int bits>
class Decoder {
 public:
  static constexpr int per = 32 / bits;
  using D = hn::Repartition<std::conditional_t<bits == 8, std::uint8_t, std::conditional_t<bits == 16, std::uint16_t, std::uint32_t>>, U32>;
  using T = hn::TFromD<D>;
  using S = hn::RebindToSigned<D>;

  Decoder(const Elements& e, bool wide) : e_(e), wide_(wide), fraction_bits_(e.fraction_bits + (bits == 32 ? 13 : 0)) {
    for (int fraction = 0; fraction < 16; ++fraction) {
      int exponent = 1 - e.bias;
      if (e.normal_subnormals)
        for (int bit = 1 << e.fraction_bits; bit > fraction && fraction != 0; bit >>= 1) --exponent;
      subnormal_exponents_[fraction] = static_cast<std::int8_t>(fraction == 0 ? zero_exponent : exponent);
    }
  }

  HWY_INLINE Range empty_range() const { return {hn::Set(U32(), ~0u), hn::Zero(U32())}; }

  HWY_INLINE bool inside(const Range& range) const {
    const D d;
    const int unit = 1 << fraction_bits_;
    const auto least = static_cast<T>(wide_ ? (e_.bias - plain_exponent) * unit - 1 : 0);
    const auto most = static_cast<T>(wide_ ? (e_.bias + plain_exponent) * unit : e_.largest);
    const auto outside = hn::Or(hn::Lt(hn::BitCast(d, range.least_below), hn::Set(d, least)), hn::Gt(hn::BitCast(d, range.most), hn::Set(d, most)));
    return hn::AllFalse(d, outside);
  }

  /// The magnitudes of the elements, packed as they are.
  HWY_INLINE Word magnitudes(Word words, Range& range) const {
    const D d;
    if constexpr (bits == 32) words = hn::And(words, hn::Set(U32(), 0x7fffe000u));  // tf32
    if constexpr (bits == 16) words = hn::And(words, hn::Set(U32(), 0x7fff7fffu));
    if constexpr (bits == 8) words = hn::And(hn::ShiftRightSame(words, e_.shift), hn::Set(U32(), 0x01010101u * ((1u << (e_.bits - 1)) - 1)));
    const auto m = hn::BitCast(d, words);
    range.most = hn::BitCast(U32(), hn::Max(hn::BitCast(d, range.most), m));
    if (wide_) range.least_below = hn::BitCast(U32(), hn::Min(hn::BitCast(d, range.least_below), hn::Sub(m, hn::Set(d, T{1}))));
    return words;
  }

  /// Exponents as packed as the magnitudes; where wide elements are outside of the usual case, low bits of them.
  HWY_INLINE Word exponents(Word magnitudes) const {
    const S d;
    const auto m = hn::BitCast(d, magnitudes);
    const auto one = hn::Set(d, hn::TFromD<S>{1}), bias = hn::Set(d, static_cast<hn::TFromD<S>>(e_.bias));
    if constexpr (bits == 8) {
      const auto field = hn::And(hn::BitCast(d, hn::ShiftRightSame(magnitudes, e_.fraction_bits)), hn::Set(d, static_cast<std::int8_t>((1 << e_.exponent_bits) - 1)));
      const auto fraction = hn::And(m, hn::Set(d, static_cast<std::int8_t>((1 << e_.fraction_bits) - 1)));
      const auto subnormal = hn::TableLookupBytes(hn::LoadDup128(d, subnormal_exponents_), fraction);
      return hn::BitCast(U32(), hn::IfThenElse(hn::Eq(field, hn::Zero(d)), subnormal, hn::Sub(field, bias)));
    } else {
      const auto exponent = hn::Sub(hn::Max(hn::ShiftRightSame(m, fraction_bits_), one), bias);
      return hn::BitCast(U32(), hn::IfThenElse(hn::Eq(m, hn::Zero(d)), hn::Set(d, static_cast<hn::TFromD<S>>(zero_exponent)), exponent));
    }
  }

  /// 16-bit elements that lie beside each other.
  HWY_INLINE hn::Vec<F32> halves(const std::uint16_t* from) const {
    const hn::Rebind<std::uint16_t, U32> d16;
    const auto elements = hn::LoadU(d16, from);
    if (wide_) return hn::BitCast(F32(), hn::ShiftLeft<16>(hn::PromoteTo(U32(), elements)));
#if HWY_TARGET == HWY_SSE4
    return f16_to_f32(hn::PromoteTo(U32(), elements));
#else
    return hn::PromoteTo(F32(), hn::BitCast(hn::Rebind<hwy::float16_t, F32>(), elements));
#endif
  }

  /// Element i of each word. Those of 8-bit containers come too small by 2^(15 − bias).
  HWY_INLINE hn::Vec<F32> value(Word words, int i) const {
    const U32 d;
    if constexpr (bits == 32) return hn::BitCast(F32(), hn::And(words, hn::Set(d, 0xffffe000u)));
    if constexpr (bits == 16) {
      if (wide_) return hn::BitCast(F32(), i == 0 ? hn::ShiftLeft<16>(words) : hn::And(words, hn::Set(d, 0xffff0000u)));
      return f16_to_f32(i == 0 ? words : hn::ShiftRight<16>(words));
    }
    const Word element = hn::ShiftRightSame(words, 8 * i + e_.shift);
    const Word magnitude = hn::And(element, hn::Set(d, (1u << (e_.bits - 1)) - 1));
    Word f16 = hn::ShiftLeftSame(magnitude, 10 - e_.fraction_bits);
    if (e_.has_one_nan) f16 = hn::IfThenElse(hn::Eq(magnitude, hn::Set(d, 0x7fu)), hn::Set(d, 0x7e00u), f16);
    const Word sign = hn::And(hn::ShiftLeftSame(element, 16 - e_.bits), hn::Set(d, 0x8000u));
    return f16_to_f32(hn::Or(f16, sign));
  }

 private:
  const Elements& e_;
  bool wide_;
  int fraction_bits_;
  HWY_ALIGN std::int8_t subnormal_exponents_[16];
};

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace
}  // namespace warpmat::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
