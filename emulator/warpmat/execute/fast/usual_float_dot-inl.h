// Products in floating point in the usual case: FloatOperands::usual; included once for each instruction set, as vectors-inl.h is.
//
// Scaled by 2^(fraction_bits − E), products are truncated to 32-bit integers; the CPU rounds toward zero meanwhile, so that the last
// conversion rounds as the unit does.

#if defined(WARPMAT_FAST_USUAL_FLOAT_DOT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WARPMAT_FAST_USUAL_FLOAT_DOT_INL_H_
#undef WARPMAT_FAST_USUAL_FLOAT_DOT_INL_H_
#else
#define WARPMAT_FAST_USUAL_FLOAT_DOT_INL_H_
#endif

#include <warpmat/execute/fast/float_operands-inl.h>

HWY_BEFORE_NAMESPACE();
namespace warpmat::HWY_NAMESPACE {
namespace {

#if HWY_TARGET != HWY_SCALAR

template <int bits, bool wide, bool sparse>
class UsualFloatDot {
 public:
  using Operands = FloatOperands<bits, wide, sparse>;
  explicit UsualFloatDot(const Operands& operands) : o_(operands), plan_(operands.plan()) {}

  /// Writes d[column][row]. False where a sum leaves the range of an int32, or a result that of f16.
  bool multiply(std::uint32_t (*d)[rows]) const {
    if constexpr (bits == 8)
      if (plan_.scaled) return multiply<false, true>(d);
    return plan_.f16_accumulator ? multiply<true, false>(d) : multiply<false, false>(d);
  }

 private:
  static constexpr int bias = 127;
  static constexpr int block = Operands::block;

  /// What is the same for all results. Factors are powers of two: a factor's biased exponent is the largest one minus E's.
  struct Constants {
    hn::Vec<I32> fraction_bits, largest_factor, largest_product_factor;
    hn::Vec<F32> floor;  ///< the power of two; of f16 results, others are far above theirs
    Word kept;
    HWY_ATTR Constants(const FloatPlan& plan, int missing)
        : fraction_bits(field(plan.fraction_bits)),
          largest_factor(field(plan.fraction_bits + 2 * bias)),
          largest_product_factor(field(plan.fraction_bits + missing + 2 * bias)),
          floor(power(HWY_MAX(plan.floor, 1 - bias))),
          kept(hn::Set(U32(), ~0u << (23 - plan.result_fraction_bits))) {}
  };

  /// What shows that the case is not the usual one.
  struct Unusual {
    hn::Vec<I32> overflow;         ///< sign bits
    hn::Vec<F32> largest_c;        ///< the power of two; or infinite
    hn::Vec<U8> smallest_product;  ///< the smallest of the products' largest exponents, biased as a float's
  };

  /// Of C, and of products; the negative ones count where no product of a result is larger. All that a C of 2^-60 holds lies above what is
  /// truncated beside products of zeros.
  static constexpr int largest_c = 60;

  HWY_INLINE static hn::Vec<F32> power(int exponent) { return hn::BitCast(F32(), field(bias + exponent)); }

  /// In the place of a float's exponent. (Larger ones wrap around, and so back.)
  HWY_INLINE static hn::Vec<I32> field(int exponent) {
    return hn::Set(I32(), static_cast<std::int32_t>(static_cast<std::uint32_t>(exponent) << 23));
  }

  template <bool f16_accumulator, bool scaled>
  bool multiply(std::uint32_t (*d)[rows]) const {
    const Constants constants(plan_, o_.missing_exponent());
    Unusual unusual{hn::Zero(I32()), hn::Zero(F32()), hn::Set(U8(), std::uint8_t{255})};
    const std::uint32_t(*c)[rows] = o_.accumulator();
    o_.for_each_step([&](auto blocks, auto begin, auto end, int first_slot) HWY_ATTR {
      add_step<f16_accumulator, scaled, blocks(), begin(), end()>(constants, first_slot, c, d, unusual);
      c = d;
    });
    if (!hn::AllFalse(I32(), hn::Lt(unusual.overflow, hn::Zero(I32()))) ||
        !hn::AllFalse(F32(), hn::Gt(unusual.largest_c, power(largest_c))))
      return false;
    const bool products_everywhere = hn::AllFalse(U8(), hn::Lt(unusual.smallest_product, hn::Set(U8(), std::uint8_t{bias - largest_c})));
    return products_everywhere || o_.at_least(plain_exponent, largest_c);
  }

  /// d = c + one step; see FloatOperands::largest_exponents.
  template <bool f16_accumulator, bool scaled, int blocks, int begin, int end>
  HWY_INLINE void add_step(const Constants& constants, int first_slot, const std::uint32_t (*c)[rows], std::uint32_t (*d)[rows],
                           Unusual& unusual) const {
    HWY_ALIGN std::uint32_t exponents[columns][rows];
    unusual.smallest_product = hn::Min(unusual.smallest_product, o_.template largest_exponents<blocks, begin, end>(first_slot, exponents));
    HWY_UNROLL(8)
    for (int column = 0; column < columns; ++column)
      for (int row = 0; row < rows; row += vector_rows) {
        const auto products = hn::BitCast(I32(), hn::Load(U32(), exponents[column] + row));
        const auto scale = scaled ? scale_field(products, column, row) : hn::Zero(I32());
        const Word result = step<f16_accumulator, blocks, begin, end>(constants, first_slot, column, row, hn::Load(U32(), c[column] + row),
                                                                      products, scale, unusual);
        hn::Store(result, U32(), d[column] + row);
      }
  }

  /// The exponent of the scale factors of results of which `products` are the largest exponents, both in the place of a float's; 0 where
  /// all products are zero, which are to stay below all others. Elements have 8 bits.
  HWY_INLINE hn::Vec<I32> scale_field(hn::Vec<I32> products, int column, int row) const {
    constexpr int largest_element = 15, smallest_element = -16;  // exponents, of e5m2
    static_assert(zero_exponent + largest_element < least_field - bias && least_field - bias < 2 * smallest_element);
    static_assert(2 * (largest_element + usual_scale) < bias && 2 * (smallest_element - usual_scale) - 32 > -bias);
    return hn::IfThenElseZero(hn::Gt(products, field(least_field - bias)), hn::ShiftLeft<23>(o_.scale_exponent(column, row)));
  }

  /// `products` are the largest exponents of the products before they are scaled.
  template <bool f16_accumulator, int blocks, int begin, int end>
  HWY_INLINE Word step(const Constants& constants, int first_slot, int column, int row, Word c_bits, hn::Vec<I32> products,
                       hn::Vec<I32> scale, Unusual& unusual) const {
    const auto c = f16_accumulator ? f16_to_f32(c_bits) : hn::BitCast(F32(), c_bits);
    const auto c_power = hn::BitCast(F32(), c_exponent<f16_accumulator>(hn::BitCast(I32(), c)));
    unusual.largest_c = hn::Max(unusual.largest_c, c_power);
    auto largest = hn::Max(hn::BitCast(F32(), hn::Add(products, scale)), c_power);
    if constexpr (f16_accumulator) largest = hn::Max(largest, constants.floor);
    const auto exponent = hn::BitCast(I32(), largest);
    const auto c_factor = hn::BitCast(F32(), hn::Sub(constants.largest_factor, exponent));
    const auto factor = bits == 8 ? hn::BitCast(F32(), hn::Add(hn::Sub(constants.largest_product_factor, exponent), scale)) : c_factor;
    auto sum = truncate(hn::Mul(c, c_factor));
    // As many products at a time as an int32 surely holds the sum of.
    constexpr int group = HWY_MIN(8 * 4 / (end - begin), blocks * block);
    HWY_UNROLL(4)
    for (int i = 0; i < blocks * block; i += group) {
      const auto total = sum_of_products<group, begin, end>(first_slot, i, column, row, factor);
      const auto both = hn::Add(sum, total);
      // C and the first group fit.
      if (i != 0) unusual.overflow = hn::Or(unusual.overflow, overflow_of(sum, total, both));
      sum = both;
    }
    const auto unit = hn::BitCast(F32(), hn::Sub(exponent, constants.fraction_bits));
    return round<f16_accumulator>(sum, unit, constants.kept, unusual.overflow);
  }

  /// The products of `group` slots, from `first` + `offset` on.
  template <int group, int begin, int end>
  HWY_INLINE hn::Vec<I32> sum_of_products(int first, int offset, int column, int row, hn::Vec<F32> factor) const {
    auto total = hn::Zero(I32());
    HWY_UNROLL(16)
    for (int i = offset; i < offset + group; ++i) {
      if (i % 4 < begin || i % 4 >= end) continue;
      total = hn::Add(total, truncate(hn::Mul(hn::Mul(o_.a(first + i, row), o_.b(first, i, column, row)), factor)));
    }
    return total;
  }

  /// In the place of a float's exponent. A subnormal f16 counts with its format's smallest exponent.
  template <bool f16_accumulator>
  HWY_INLINE static hn::Vec<I32> c_exponent(hn::Vec<I32> c) {
    const auto exponent = hn::And(c, field(255));
    if constexpr (!f16_accumulator) return exponent;
    return hn::IfThenElseZero(hn::Gt(exponent, hn::Zero(I32())), hn::Max(exponent, field(bias - 14)));
  }

  template <bool f16_accumulator>
  HWY_INLINE static Word round(hn::Vec<I32> sum, hn::Vec<F32> unit, Word kept, hn::Vec<I32>& overflow) {
    const auto truncated = hn::ConvertTo(F32(), sum);
    if constexpr (!f16_accumulator) {
      const Word result = hn::BitCast(U32(), hn::Mul(truncated, unit));
      return bits == 8 ? hn::And(result, kept) : result;
    }
    // The last bit tells that there were more, so that rounding once more rounds as the exact sum would.
    const auto inexact = hn::VecFromMask(I32(), hn::Ne(truncate(truncated), sum));
    const auto odd = hn::BitCast(F32(), hn::OrAnd(hn::BitCast(I32(), truncated), inexact, hn::Set(I32(), 1)));
    const Word result = f32_to_f16(hn::Mul(odd, unit));
    const auto infinity = hn::Set(I32(), 0x7c00);
    overflow = hn::Or(overflow, hn::VecFromMask(I32(), hn::Eq(hn::And(hn::BitCast(I32(), result), infinity), infinity)));
    return result;
  }

  const Operands& o_;
  const FloatPlan& plan_;
};

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace
}  // namespace warpmat::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
