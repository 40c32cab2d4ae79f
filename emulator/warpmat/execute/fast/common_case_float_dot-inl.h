// The common case of floating-point products (FloatOperands::common_case); included once for each instruction set, as vectors-inl.h is.
//
// Products times 2^(fraction_bits − E) are truncated to 32-bit integers. The CPU rounds toward zero, so the last conversion rounds as the
// unit does. Exponents, E too, remain in the position of a float's exponent field. bounds.h proves the ranges.

#if defined(WARPMAT_FAST_COMMON_CASE_FLOAT_DOT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WARPMAT_FAST_COMMON_CASE_FLOAT_DOT_INL_H_
#undef WARPMAT_FAST_COMMON_CASE_FLOAT_DOT_INL_H_
#else
#define WARPMAT_FAST_COMMON_CASE_FLOAT_DOT_INL_H_
#endif

#include <warpmat/execute/fast/bounds.h>
#include <warpmat/execute/fast/float_operands-inl.h>
#include <warpmat/execute/fast/special_products-inl.h>

HWY_BEFORE_NAMESPACE();
namespace warpmat::HWY_NAMESPACE {
namespace {

#if HWY_TARGET != HWY_SCALAR

template <int bits, bool wide, bool sparse>
class CommonCaseFloatDot {
 public:
  using Operands = FloatOperands<bits, wide, sparse>;
  using Specials = SpecialProducts<bits, wide, sparse>;
  CommonCaseFloatDot(Operands& operands, Specials& specials) : o_(operands), specials_(specials), plan_(operands.plan()) {}

  /// Writes d[column][row]. Returns false if a sum leaves the range of an int32.
  bool multiply(std::uint32_t (*d)[rows]) const {
    if constexpr (wide) {
      return multiply<false, false>(d);
    } else {
      if constexpr (bits == 8)
        if (plan_.scaled) return multiply<false, true>(d);
      return plan_.f16_accumulator ? multiply<true, false>(d) : multiply<false, false>(d);
    }
  }

 private:
  static constexpr int bias = bounds::f32_bias;
  static constexpr int block = Operands::block;

  /// Values common to all results.
  struct Constants {
    hn::Vec<I32> fraction_bits;
    hn::Vec<I32> c_factor, product_factor;  ///< the factors' exponent fields are these minus E's
    hn::Vec<I32> min_product_factor;
    hn::Vec<F32> floor;  ///< the power of two; used for f16 results only, because others are far above theirs
    Word kept;
    HWY_ATTR Constants(const FloatPlan& plan, int missing)
        : fraction_bits(field(plan.fraction_bits)),
          c_factor(field(plan.fraction_bits + 2 * bias)),
          product_factor(field(plan.fraction_bits + missing + 2 * bias)),
          min_product_factor(field(bounds::min_common_case_factor + bias)),
          floor(power(HWY_MAX(plan.floor, 1 - bias))),
          kept(hn::Set(U32(), ~0u << (bounds::f32_fraction_bits - plan.result_fraction_bits))) {}
  };

  /// What the results show of the warp.
  struct Findings {
    hn::Vec<I32> overflow;                   ///< sign bits
    hn::Vec<I32> infinite;                   ///< not 0 where a result is: it leaves the range of f16. A next step then has a special C
    hn::Vec<I32> largest_c;                  ///< maximum of the exponent fields of an f32 C, where the first step adds it
    hn::Vec<U8> smallest_products;           ///< minimum over the results of their largest product's exponent, as a float's field
    bool looked = false, too_small = false;  ///< whether has_no_small_number was asked, and answered no
  };

  HWY_INLINE static hn::Vec<F32> power(int exponent) { return hn::BitCast(F32(), field(bias + exponent)); }

  /// A number in the position of a float's exponent field. Numbers above 255 wrap around; subtracting a field from them wraps back.
  HWY_INLINE static hn::Vec<I32> field(int number) {
    return hn::Set(I32(), static_cast<std::int32_t>(static_cast<std::uint32_t>(number) << bounds::f32_fraction_bits));
  }

  template <bool f16_accumulator, bool scaled>
  bool multiply(std::uint32_t (*d)[rows]) const {
    const Constants constants(plan_, o_.missing_exponent());
    // If A and B are finite, a C of f32 almost always is, too: the first step finds out.
    const bool c_is_known = f16_accumulator || specials_.any(false);
    if (c_is_known) o_.find_special_c();
    Findings findings{hn::Zero(I32()), hn::Zero(I32()), hn::Zero(I32()), hn::Set(U8(), std::uint8_t{255})};
    add_steps<f16_accumulator, scaled>(constants, d, findings);
    if (findings.too_small || !in_range(findings)) return false;
    if (HWY_UNLIKELY(!c_is_known && !hn::AllFalse(I32(), hn::Eq(findings.largest_c, field(255))))) specials_.replace_by_c(d);
    return true;
  }

  template <bool f16_accumulator, bool scaled>
  HWY_INLINE void add_steps(const Constants& constants, std::uint32_t (*d)[rows], Findings& findings) const {
    const std::uint32_t(*c)[rows] = o_.accumulator();
    bool special_c = o_.special_c();
    int step = 0;
    o_.template for_each_step<true>([&](auto blocks, auto begin, auto end, auto first_slot) HWY_ATTR {
      if (wide && findings.too_small) return;
      const bool special = specials_.any(special_c);
      if (special) c = specials_.before(step, special_c, c, d);
      add_step<f16_accumulator, scaled, blocks(), begin(), end(), first_slot()>(constants, c, d, findings);
      if (special) specials_.after(d);
      special_c = special || (f16_accumulator && !hn::AllTrue(I32(), hn::Eq(findings.infinite, hn::Zero(I32()))));
      c = d;
      ++step;
    });
  }

  /// Whether the sums were in the range of an int32, and no product too small to tell its exponent.
  HWY_INLINE bool in_range(const Findings& findings) const {
    if (!hn::AllFalse(I32(), hn::Lt(findings.overflow, hn::Zero(I32())))) return false;
    return findings.looked || products_everywhere(findings) || has_no_small_number();
  }

  /// Whether each result had a product whose exponent tells that of the largest.
  HWY_INLINE static bool products_everywhere(const Findings& findings) {
    constexpr std::uint8_t least = bias + bounds::min_plain_product;
    return hn::AllFalse(U8(), hn::Lt(findings.smallest_products, hn::Set(U8(), least)));
  }

  bool has_no_small_number() const { return o_.at_least(-bounds::plain_exponent, bounds::min_plain_product); }

  /// d = c + one step; see FloatOperands::largest_exponents.
  template <bool f16_accumulator, bool scaled, int blocks, int begin, int end, int first_slot>
  HWY_INLINE void add_step(const Constants& constants, const std::uint32_t (*c)[rows], std::uint32_t (*d)[rows], Findings& findings) const {
    HWY_ALIGN std::uint32_t exponents[columns][rows];
    const Operands& o = o_;  // what d is written to might be the member, as far as the compiler knows
    findings.smallest_products =
        hn::Min(findings.smallest_products, o.template largest_exponents<blocks, begin, end>(first_slot, exponents));
    // Wide products are often too small; then this is half the work.
    constexpr bool is_first = begin == 0 && first_slot == 0;
    if (wide && is_first && HWY_UNLIKELY(!products_everywhere(findings))) {
      findings.looked = true;
      findings.too_small = !has_no_small_number();
      if (findings.too_small) return;
    }
    for (int column = 0; column < columns; ++column)
      for (int row = 0; row < rows; row += vector_rows) {
        const auto products = hn::BitCast(I32(), hn::Load(U32(), exponents[column] + row));
        const auto scale = scaled ? scale_field(products, column, row) : hn::Zero(I32());
        const Word result = step<f16_accumulator, blocks, begin, end, first_slot>(
            o, constants, column, row, hn::Load(U32(), c[column] + row), products, scale, findings);
        hn::Store(result, U32(), d[column] + row);
      }
  }

  /// The exponent of the scale factors of results whose largest product exponents are `products`, both in the position of a float's; 0 if
  /// all products are zero, so that they stay below all others. Elements have 8 bits.
  HWY_INLINE hn::Vec<I32> scale_field(hn::Vec<I32> products, int column, int row) const {
    return hn::IfThenElseZero(hn::Gt(products, field(bounds::no_product_field)), hn::ShiftLeft<23>(o_.scale_exponent(column, row)));
  }

  /// `products` are the largest exponents of the products before scaling.
  template <bool f16_accumulator, int blocks, int begin, int end, int first_slot>
  HWY_INLINE static Word step(const Operands& o, const Constants& constants, int column, int row, Word c_bits, hn::Vec<I32> products,
                              hn::Vec<I32> scale, Findings& findings) {
    const auto c = f16_accumulator ? f16_to_f32(c_bits) : hn::BitCast(F32(), c_bits);
    const auto c_power = hn::BitCast(F32(), c_exponent<f16_accumulator>(hn::BitCast(I32(), c)));
    constexpr bool is_first = begin == 0 && first_slot == 0;
    if constexpr (is_first && !f16_accumulator) findings.largest_c = hn::Max(findings.largest_c, hn::BitCast(I32(), c_power));
    auto largest = hn::Max(hn::BitCast(F32(), hn::Add(products, scale)), c_power);
    if constexpr (f16_accumulator) largest = hn::Max(largest, constants.floor);
    const auto exponent = hn::BitCast(I32(), largest);
    const auto c_field = hn::Sub(constants.c_factor, exponent);
    const auto c_factor = hn::BitCast(F32(), c_field);
    const auto to_units = bits == 8 ? hn::Add(hn::Sub(constants.product_factor, exponent), scale) : c_field;
    const auto factor = hn::BitCast(F32(), hn::Max(to_units, constants.min_product_factor));
    auto sum = truncate(hn::Mul(c, c_factor));
    constexpr int group = HWY_MIN(bounds::common_case_group * 4 / (end - begin), blocks * block);
    WARPMAT_UNROLL(4)
    for (int i = 0; i < blocks * block; i += group) {
      const auto total = sum_of_products<group, begin, end>(o, first_slot, i, column, row, factor);
      const auto both = hn::Add(sum, total);
      // C and the first group always fit.
      if (i != 0) findings.overflow = hn::Or(findings.overflow, overflow_of(sum, total, both));
      sum = both;
    }
    const auto unit = hn::BitCast(F32(), hn::Sub(exponent, constants.fraction_bits));
    return round<f16_accumulator>(sum, unit, constants.kept, findings.infinite);
  }

  /// The products of `group` slots, from `first` + `offset` on.
  template <int group, int begin, int end>
  HWY_INLINE static hn::Vec<I32> sum_of_products(const Operands& o, int first, int offset, int column, int row, hn::Vec<F32> factor) {
    auto total = hn::Zero(I32());
    WARPMAT_UNROLL(16)
    for (int i = offset; i < offset + group; ++i) {
      if (i % 4 < begin || i % 4 >= end) continue;
      total = hn::Add(total, truncate(hn::Mul(hn::Mul(o.a(first + i, row), o.b(first, i, column, row)), factor)));
    }
    return total;
  }

  /// In the position of a float's exponent. A subnormal f16 has its format's smallest exponent.
  template <bool f16_accumulator>
  HWY_INLINE static hn::Vec<I32> c_exponent(hn::Vec<I32> c) {
    const auto exponent = hn::And(c, field(255));
    if constexpr (!f16_accumulator) return exponent;
    return hn::IfThenElseZero(hn::Gt(exponent, hn::Zero(I32())), hn::Max(exponent, field(bias + bounds::min_f16_exponent)));
  }

  template <bool f16_accumulator>
  HWY_INLINE static Word round(hn::Vec<I32> sum, hn::Vec<F32> unit, Word kept, hn::Vec<I32>& infinite) {
    const auto truncated = hn::ConvertTo(F32(), sum);
    if constexpr (!f16_accumulator) {
      const Word result = hn::BitCast(U32(), hn::Mul(truncated, unit));
      return bits == 8 ? hn::And(result, kept) : result;
    }
    // The last bit is sticky, so rounding the result again equals one rounding of the exact sum.
    const auto inexact = hn::VecFromMask(I32(), hn::Ne(truncate(truncated), sum));
    const auto odd = hn::BitCast(F32(), hn::OrAnd(hn::BitCast(I32(), truncated), inexact, hn::Set(I32(), 1)));
    const Word result = f32_to_f16(hn::Mul(odd, unit));
    const auto infinity = hn::Set(I32(), 0x7c00);
    infinite = hn::Or(infinite, hn::VecFromMask(I32(), hn::Eq(hn::And(hn::BitCast(I32(), result), infinity), infinity)));
    return result;
  }

  Operands& o_;
  Specials& specials_;
  const FloatPlan& plan_;
};

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace
}  // namespace warpmat::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
