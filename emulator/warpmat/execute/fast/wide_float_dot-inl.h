// Products of bf16 and tf32 of any size: the fallback of wide formats; included once for each instruction set, as vectors-inl.h is.
//
// Elements are split into magnitudes, exponents and signs. Magnitudes are multiplied as integers, with the bits of the longest unit, and
// shifted right to the unit by vectors: that is truncation toward zero. bounds.h proves the ranges.

#if defined(WARPMAT_FAST_WIDE_FLOAT_DOT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WARPMAT_FAST_WIDE_FLOAT_DOT_INL_H_
#undef WARPMAT_FAST_WIDE_FLOAT_DOT_INL_H_
#else
#define WARPMAT_FAST_WIDE_FLOAT_DOT_INL_H_
#endif

#include <warpmat/execute/fast/bounds.h>
#include <warpmat/execute/fast/float_operands-inl.h>
#include <warpmat/execute/fast/special_products-inl.h>

HWY_BEFORE_NAMESPACE();
namespace warpmat::inline v0_1::HWY_NAMESPACE {
namespace {

#if HWY_TARGET != HWY_SCALAR

/// v · 2^-count, truncated. Precondition: count is at least 0, v has at most 24 significant bits and is less than 2^31.
HWY_INLINE hn::Vec<I32> shift_right(hn::Vec<I32> v, hn::Vec<I32> count) {
#if HWY_TARGET <= HWY_AVX3
  return hn::Vec<I32>{_mm512_srlv_epi32(v.raw, count.raw)};
#elif HWY_TARGET == HWY_AVX2
  return hn::Vec<I32>{_mm256_srlv_epi32(v.raw, count.raw)};
#elif HWY_TARGET == HWY_SSE4  // has no shift by vectors
  const auto field = hn::Sub(hn::Set(I32(), bounds::f32_bias), hn::Min(count, hn::Set(I32(), 31)));
  return truncate(hn::Mul(hn::ConvertTo(F32(), v), hn::BitCast(F32(), hn::ShiftLeft<23>(field))));
#else
  return hn::BitCast(I32(), hn::Shr(hn::BitCast(U32(), v), hn::BitCast(U32(), hn::Min(count, hn::Set(I32(), 31)))));
#endif
}

template <int bits, bool sparse>
class WideFloatDot {
 public:
  using Operands = FloatOperands<bits, true, sparse>;
  using Specials = SpecialProducts<bits, true, sparse>;
  WideFloatDot(const Operands& operands, Specials& specials) : o_(operands), specials_(specials), plan_(operands.plan()) {}

  /// Writes d[column][row].
  void multiply(std::uint32_t (*d)[rows]) {
    take_apart();
    const std::uint32_t(*c)[rows] = o_.accumulator();
    bool special_c = o_.special_c();
    int step = 0;
    o_.for_each_step([&](auto blocks, auto, auto, int first_slot) HWY_ATTR {
      const bool special = specials_.any(special_c);
      if (special) specials_.before(step, c, d);
      const bool infinite = add_step<blocks() * Operands::block>(first_slot, special ? d : c, d);
      if (special) specials_.after(d);
      special_c = special || infinite;
      c = d;
      ++step;
    });
  }

 private:
  /// Returns whether a result is infinite.
  template <int slots>
  HWY_INLINE bool add_step(int first_slot, const std::uint32_t (*c)[rows], std::uint32_t (*d)[rows]) const {
    auto infinite = hn::FirstN(I32(), 0);
    for (int row = 0; row < rows; row += vector_rows)
      for (int first_column = 0; first_column < columns; first_column += 4) {
        const Word negative = negative_products<slots>(first_slot, first_column, row);
        for (int i = 0; i < 4; ++i) {
          const int column = first_column + i;
          const auto count = hn::BitCast(I32(), hn::And(hn::ShiftRightSame(negative, 8 * i), hn::Set(U32(), 0xffu)));
          hn::Store(step<slots>({first_slot, column, row}, hn::Load(U32(), c[column] + row), count, infinite), U32(), d[column] + row);
        }
      }
    return !hn::AllFalse(I32(), infinite);
  }

  /// The number of products with a negative sign, a byte for each of four columns.
  template <int slots>
  HWY_INLINE Word negative_products(int first_slot, int column, int row) const {
    auto count = hn::Zero(I8());
    WARPMAT_UNROLL(16)
    for (int i = first_slot; i < first_slot + slots; ++i) {
      const auto a = hn::BitCast(I8(), hn::Load(I32(), a_.signs + i * rows + row));
      count = hn::Sub(count, hn::Xor(a, o_.bytes_of_columns(b_sign_bytes_[column / 4], i, row)));  // -1 for negative ones
    }
    return hn::BitCast(U32(), count);
  }

  /// A vector of results, and the start of the step that is added to them.
  struct Results {
    int first_slot, column, row;
  };

  template <int slots>
  HWY_INLINE Word step(const Results& at, Word c, hn::Vec<I32> negative, hn::Mask<I32>& infinite) const {
    static_assert(slots <= bounds::general_group);
    const I32 d;
    const auto of_a = [&](const std::int32_t* all, int i) HWY_ATTR { return hn::Load(d, all + (at.first_slot + i) * rows + at.row); };
    const auto of_b = [&](const std::int32_t* all, int i)
                          HWY_ATTR { return o_.multiplied_by(d, all, at.first_slot, i, at.column, at.row); };
    hn::Vec<I32> exponents[slots];
    auto exponent = hn::Max(accumulator_exponent(c), hn::Set(d, plan_.floor));
    WARPMAT_UNROLL(16)
    for (int i = 0; i < slots; ++i) {
      exponents[i] = hn::Add(of_a(a_.exponents, i), of_b(b_.exponents, i));
      exponent = hn::Max(exponent, exponents[i]);
    }
    // A term of this exponent is shifted by 0 if the unit has max_fraction_bits.
    const auto longest = hn::Add(exponent, hn::Set(d, bounds::max_fraction_bits - plan_.fraction_bits));
    auto products = negative;  // -x is ~x + 1
    WARPMAT_UNROLL(16)
    for (int i = 0; i < slots; ++i) {
      const auto product = add_pair_products(d, hn::Zero(d), of_a(a_.magnitudes, i), of_b(b_.magnitudes, i));
      const auto magnitude = shift_right(product, hn::Sub(longest, exponents[i]));
      products = hn::Add(products, hn::Xor3(magnitude, of_a(a_.signs, i), of_b(b_.signs, i)));
    }
    const auto units = units_of(c, longest), sum = hn::Add(products, units);
    const auto overflow = hn::Lt(overflow_of(products, units, sum), hn::Zero(d));
    if (HWY_LIKELY(hn::AllFalse(d, overflow))) return round(sum, exponent, infinite);
    return round(hn::IfThenElse(overflow, half_of_sum(products, units), sum), hn::Sub(exponent, hn::VecFromMask(d, overflow)), infinite);
  }

  HWY_INLINE static hn::Vec<I32> accumulator_exponent(Word c) {
    return exponents(hn::BitCast(F32(), c), bounds::min_f32_exponent, bounds::no_exponent);
  }

  /// C in units of 2^(longest − max_fraction_bits), truncated.
  HWY_INLINE static hn::Vec<I32> units_of(Word c, hn::Vec<I32> longest) {
    const I32 d;
    const auto all = hn::BitCast(d, c), sign = hn::BroadcastSignBit(all);
    const auto significand = hn::ShiftLeft<bounds::max_fraction_bits - bounds::f32_fraction_bits>(significand_of(all));
    const auto magnitude = shift_right(significand, hn::Sub(longest, accumulator_exponent(c)));
    return hn::Sub(hn::Xor(magnitude, sign), sign);
  }

  /// The significand of a float, an integer of 24 bits.
  HWY_INLINE static hn::Vec<I32> significand_of(hn::Vec<I32> all) {
    const I32 d;
    const auto implicit = hn::Set(d, 1 << bounds::f32_fraction_bits),
               fraction = hn::And(all, hn::Set(d, (1 << bounds::f32_fraction_bits) - 1));
    const auto is_normal = hn::Ne(hn::And(all, hn::Set(d, 0x7f800000)), hn::Zero(d));
    return hn::Or(fraction, hn::IfThenElseZero(is_normal, implicit));
  }

  /// (a + b) / 2 toward zero. If a + b has more than 31 bits, rounding needs no more of it.
  HWY_INLINE static hn::Vec<I32> half_of_sum(hn::Vec<I32> a, hn::Vec<I32> b) {
    const I32 d;
    const auto one = hn::Set(d, 1);
    const auto down = hn::Add(hn::Add(hn::ShiftRight<1>(a), hn::ShiftRight<1>(b)), hn::And(hn::And(a, b), one));
    return hn::Add(down, hn::And(hn::And(hn::Xor(a, b), one), hn::BroadcastSignBit(down)));
  }

  /// sum · 2^(exponent − fraction_bits) in f32, toward zero; infinite beyond its range. Adds to `infinite` where.
  HWY_INLINE Word round(hn::Vec<I32> sum, hn::Vec<I32> exponent, hn::Mask<I32>& infinite) const {
    const I32 d;
    const auto truncated = hn::ConvertTo(F32(), sum);
    const auto unit = hn::Sub(exponent, hn::Set(d, plan_.fraction_bits));
    auto result = hn::Mul(truncated, power_of_two(hn::Min(unit, hn::Set(d, bounds::largest_f32_exponent))));
    if (HWY_UNLIKELY(!hn::AllFalse(d, hn::Lt(unit, hn::Set(d, bounds::min_f32_exponent))))) result = round_small(truncated, unit);
    // Rounding toward zero stops the product at the largest number.
    const auto field = hn::Add(hn::ShiftRight<bounds::f32_fraction_bits>(hn::BitCast(d, hn::Abs(truncated))), unit);
    const auto over = hn::Gt(field, hn::Set(d, bounds::f32_bias + bounds::largest_f32_exponent));
    infinite = hn::Or(infinite, over);
    const auto infinity = hn::CopySign(hn::Inf(F32()), truncated);
    return hn::BitCast(U32(), hn::IfThenElse(hn::RebindMask(F32(), over), infinity, result));
  }

  /// truncated · 2^unit, +0 if that is zero. The unit may not be a float: it is the product of two.
  HWY_INLINE static hn::Vec<F32> round_small(hn::Vec<F32> truncated, hn::Vec<I32> unit) {
    const I32 d;
    const auto bounded = hn::Max(unit, hn::Set(d, bounds::min_split_unit)), half = hn::ShiftRight<1>(bounded);
    const auto result = hn::Mul(hn::Mul(truncated, power_of_two(half)), power_of_two(hn::Sub(bounded, half)));
    return hn::IfThenZeroElse(hn::Eq(result, hn::Zero(F32())), result);
  }

  /// Elements of A or B, in the places of the operands' elements.
  template <int count>
  struct Parts {
    HWY_ALIGN std::int32_t magnitudes[count];  ///< integers of 16 bits
    HWY_ALIGN std::int32_t exponents[count];
    HWY_ALIGN std::int32_t signs[count];  ///< 0 or -1
  };

  HWY_INLINE void take_apart() {
    take_apart<bounds::wide_magnitude_bits_a>(o_.a_values(), o_.slots() * rows, a_);
    take_apart<bounds::wide_magnitude_bits_b>(o_.b_values(), o_.b_count(), b_);
    for (int i = 0; i < o_.b_count(); i += Operands::block * columns)
      for (int half = 0; half < 2; ++half)
        o_.bytes_by_columns(b_.signs + i + half * 4 * Operands::block, b_sign_bytes_[half] + i / columns);
  }

  /// Magnitudes have `fraction_bits` below the unit bit. Precondition: `from` are numbers.
  template <int fraction_bits, int size>
  HWY_INLINE static void take_apart(const float* from, int count, Parts<size>& to) {
    const I32 d;
    for (int i = 0; i < count; i += vector_rows) {
      const auto number = hn::Load(F32(), from + i);
      const auto all = hn::BitCast(d, number);
      hn::Store(hn::ShiftRight<bounds::f32_fraction_bits - fraction_bits>(significand_of(all)), d, to.magnitudes + i);
      hn::Store(exponents(number, bounds::min_f32_exponent, bounds::no_exponent), d, to.exponents + i);
      hn::Store(hn::BroadcastSignBit(all), d, to.signs + i);
    }
  }

  const Operands& o_;
  Specials& specials_;
  const FloatPlan& plan_;
  Parts<Operands::max_slots * rows> a_;
  Parts<Operands::max_elements_of_b> b_;
  HWY_ALIGN std::uint32_t b_sign_bytes_[columns / 4][Operands::max_k];  ///< of four columns
};

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace
}  // namespace warpmat::inline v0_1::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
