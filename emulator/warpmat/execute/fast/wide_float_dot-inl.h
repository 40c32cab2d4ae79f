// Products of bf16 and tf32 of any size: the fallback of wide formats; included once for each instruction set, as vectors-inl.h is.
//
// Elements are split into significands, floats of about one size, and exponents. An exponent e is stored as the gap 254 - e to the largest
// product's, in 16 bits: one saturating subtraction makes the exponent field of the power of two that multiplies a product, and bounds it.
// bounds.h proves the ranges.

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
      if (special) c = specials_.before(step, special_c, c, d);
      const bool infinite = add_step<blocks() * Operands::block>(first_slot, c, d);
      if (special) specials_.after(d);
      special_c = special || infinite;
      c = d;
      ++step;
    });
  }

 private:
  // Gaps are 16-bit numbers in the upper halves of words. The lower halves are zeros, or hold gaps of another column.
  using U16 = hn::Repartition<std::uint16_t, U32>;
  using Gap = Word;

  static constexpr std::uint32_t gap(int exponents) { return static_cast<std::uint32_t>(exponents) << bounds::f32_fraction_bits; }
  HWY_INLINE static Gap add(Gap a, Gap b) { return hn::BitCast(U32(), hn::SaturatedAdd(hn::BitCast(U16(), a), hn::BitCast(U16(), b))); }
  HWY_INLINE static Gap subtract(Gap a, Gap b) {
    return hn::BitCast(U32(), hn::SaturatedSub(hn::BitCast(U16(), a), hn::BitCast(U16(), b)));
  }
  HWY_INLINE static Gap least(Gap a, Gap b) { return hn::BitCast(U32(), hn::Min(hn::BitCast(U16(), a), hn::BitCast(U16(), b))); }

  struct Parts {
    hn::Vec<F32> significand;
    Gap gap;  ///< bounds::no_gap for zero, infinities and NaNs, which SpecialProducts adds
  };

  /// A number's significand times 2^unit_bit, and the gap between `largest` and its exponent by the rule of dot.h.
  template <int unit_bit, int largest>
  HWY_INLINE static Parts parts_of(Word number) {
    const U32 d;
    const Word field = hn::And(number, hn::Set(d, 0x7f800000u)), smallest = hn::Set(d, 1u << bounds::f32_fraction_bits);
    // Of zero, this is the largest number.
    const auto adds_nothing = hn::Gt(hn::Sub(hn::ShiftLeft<1>(number), hn::Set(d, 1u)), hn::Set(d, 0xff000000u - 2));
    const Word gap_of_number = hn::Sub(hn::Set(d, gap(largest + bounds::f32_bias)),
                                       hn::BitCast(d, hn::Max(hn::BitCast(I32(), field), hn::BitCast(I32(), smallest))));
    const auto unit = hn::BitCast(F32(), hn::Set(d, gap(bounds::f32_bias + unit_bit)));
    const auto with_unit_bit = hn::BitCast(F32(), hn::OrAnd(hn::BitCast(d, unit), number, hn::Set(d, 0x807fffffu)));
    const auto is_subnormal = hn::RebindMask(F32(), hn::Eq(field, hn::Zero(d)));
    const auto without = hn::Sub(with_unit_bit, hn::CopySign(unit, with_unit_bit));
    return {hn::IfThenElse(is_subnormal, without, with_unit_bit), hn::IfThenElse(adds_nothing, hn::Set(d, bounds::no_gap), gap_of_number)};
  }

  /// Two gaps in one word: those of an even and of the next column.
  HWY_INLINE static Gap pair_of_gaps(Gap even, Gap odd) { return hn::Or(hn::ShiftRight<16>(even), odd); }
  HWY_INLINE static Gap even_of(Gap pair) { return hn::ShiftLeft<16>(pair); }
  HWY_INLINE static Gap odd_of(Gap pair) { return hn::And(pair, hn::Set(U32(), 0xffff0000u)); }
  static constexpr std::uint32_t gap_twice(int exponents) { return gap(exponents) >> 16 | gap(exponents); }

  HWY_INLINE void take_apart() {
    const U32 u;
    for (int i = 0; i < o_.slots() * rows; i += vector_rows) {
      const Parts a = parts_of<bounds::wide_unit_bit_a, bounds::largest_f32_exponent>(hn::BitCast(u, hn::Load(F32(), o_.a_values() + i)));
      hn::Store(a.significand, F32(), a_significands_[0] + i);
      hn::Store(pair_of_gaps(a.gap, a.gap), u, a_gaps_[0] + i);
    }
    for (int i = 0; i < o_.b_count(); i += vector_rows) {
      const Parts b = parts_of<bounds::wide_unit_bit_b, bounds::largest_f32_exponent>(hn::BitCast(u, hn::Load(F32(), o_.b_values() + i)));
      hn::Store(b.significand, F32(), b_significands_ + i);
      hn::Store(b.gap, u, b_gaps_ + i);
    }
    const hn::CappedTag<std::uint32_t, Operands::block> d;  // a register's elements of a column
    for (int i = 0; i < o_.b_count(); i += 2 * Operands::block)
      for (int k = i; k < i + Operands::block; k += static_cast<int>(hn::MaxLanes(d))) {
        const auto even = hn::Load(d, b_gaps_ + k), odd = hn::Load(d, b_gaps_ + k + Operands::block);
        hn::Store(hn::Or(hn::ShiftRight<16>(even), odd), d, b_gaps_ + k);
      }
  }

  /// Returns whether a result is infinite.
  template <int slots>
  HWY_INLINE bool add_step(int first_slot, const std::uint32_t (*c)[rows], std::uint32_t (*d)[rows]) const {
    Word over = hn::Zero(U32());
    for (int column = 0; column < columns; column += 2)
      for (int row = 0; row < rows; row += vector_rows) add_to_two_columns<slots>({first_slot, column, row}, c + column, d + column, over);
    return !hn::AllTrue(U32(), hn::Eq(over, hn::Zero(U32())));
  }

  /// A vector of results of an even column, and the start of the step that is added to them.
  struct Results {
    int first_slot, column, row;
  };

  /// Adds to `over` where a result is infinite.
  template <int slots>
  HWY_INLINE void add_to_two_columns(const Results& at, const std::uint32_t (*c)[rows], std::uint32_t (*d)[rows], Word& over) const {
    static_assert(slots <= bounds::general_group);
    const U32 u;
    const Parts c_even = parts_of<bounds::wide_unit_bit_c, bounds::largest_wide_product>(hn::Load(u, c[0] + at.row)),
                c_odd = parts_of<bounds::wide_unit_bit_c, bounds::largest_wide_product>(hn::Load(u, c[1] + at.row));
    const int floor = HWY_MAX(plan_.floor, bounds::largest_wide_product - bounds::max_gap);
    Gap smallest = least(pair_of_gaps(c_even.gap, c_odd.gap), hn::Set(u, gap_twice(bounds::largest_wide_product - floor)));
    Gap gaps[slots];
    WARPMAT_UNROLL(16)
    for (int i = 0; i < slots; ++i) {
      gaps[i] = add(hn::Load(u, a_gaps_[at.first_slot + i] + at.row), o_.multiplied_by(u, b_gaps_, at.first_slot, i, at.column, at.row));
      smallest = least(smallest, gaps[i]);
    }
    const Gap reach = hn::Add(smallest, hn::Set(u, gap_twice(bounds::wide_reach - bounds::max_fraction_bits + plan_.fraction_bits)));
    auto even = hn::Zero(I32()), odd = even;
    WARPMAT_UNROLL(16)
    for (int i = 0; i < slots; ++i) {
      const Gap powers = subtract(reach, gaps[i]);
      const auto a = hn::Load(F32(), a_significands_[at.first_slot + i] + at.row);
      const auto b = [&](int column)
                         HWY_ATTR { return o_.multiplied_by(F32(), b_significands_, at.first_slot, i, at.column + column, at.row); };
      even = hn::Add(even, in_units(hn::Mul(a, b(0)), even_of(powers)));
      odd = hn::Add(odd, in_units(hn::Mul(a, b(1)), odd_of(powers)));
    }
    hn::Store(add_and_round(c_even, even, even_of(reach), even_of(smallest), over), u, d[0] + at.row);
    hn::Store(add_and_round(c_odd, odd, odd_of(reach), odd_of(smallest), over), u, d[1] + at.row);
  }

  /// C plus the products in units; `gap_of_e`: E's.
  HWY_INLINE Word add_and_round(const Parts& c, hn::Vec<I32> products, Gap reach, Gap gap_of_e, Word& over) const {
    const auto units = in_units(c.significand, subtract(reach, c.gap)), sum = hn::Add(products, units);
    const auto overflow = hn::Lt(overflow_of(products, units, sum), hn::Zero(I32()));
    if (HWY_LIKELY(hn::AllFalse(I32(), overflow))) return round(sum, gap_of_e, over);
    const Word twice = hn::IfThenElseZero(hn::RebindMask(U32(), overflow), hn::Set(U32(), gap(1)));
    return round(hn::IfThenElse(overflow, half_of_sum(products, units), sum), hn::Sub(gap_of_e, twice), over);
  }

  /// A term times a power of two, whose exponent is at a float's exponent field; truncated.
  HWY_INLINE static hn::Vec<I32> in_units(hn::Vec<F32> term, Gap power) {
    return truncate(hn::BitCast(F32(), hn::Add(hn::BitCast(U32(), term), power)));
  }

  /// (a + b) / 2 toward zero. If a + b has more than 31 bits, rounding needs no more of it.
  HWY_INLINE static hn::Vec<I32> half_of_sum(hn::Vec<I32> a, hn::Vec<I32> b) {
    const I32 d;
    const auto one = hn::Set(d, 1);
    const auto down = hn::Add(hn::Add(hn::ShiftRight<1>(a), hn::ShiftRight<1>(b)), hn::And(hn::And(a, b), one));
    return hn::Add(down, hn::And(hn::And(hn::Xor(a, b), one), hn::BroadcastSignBit(down)));
  }

  /// sum · 2^(E − fraction_bits) in f32, toward zero, with E at `gap_of_e`; infinite beyond its range.
  HWY_INLINE Word round(hn::Vec<I32> sum, Gap gap_of_e, Word& over) const {
    const U32 d;
    const auto truncated = hn::ConvertTo(F32(), sum);
    const Gap below = hn::Add(gap_of_e, hn::Set(d, gap(plan_.fraction_bits)));  // of the unit
    const Gap bounded = hn::BitCast(d, hn::Max(hn::BitCast(U16(), below), hn::BitCast(U16(), hn::Set(d, gap(bounds::f32_bias)))));
    const auto unit = hn::BitCast(F32(), hn::Sub(hn::Set(d, gap(bounds::largest_wide_product + bounds::f32_bias)), bounded));
    auto result = hn::Mul(truncated, unit);
    const Gap subnormal = subtract(below, hn::Set(d, gap(bounds::largest_wide_product - bounds::min_f32_exponent)));
    if (HWY_UNLIKELY(!hn::AllTrue(d, hn::Eq(subnormal, hn::Zero(d))))) result = round_small(truncated, below);
    // Rounding toward zero stops the product at the largest number.
    const Word beyond = subtract(hn::And(hn::BitCast(d, truncated), hn::Set(d, 0x7f800000u)), below);
    over = hn::Or(over, beyond);
    const auto finite = hn::RebindMask(F32(), hn::Eq(beyond, hn::Zero(d)));
    return hn::BitCast(d, hn::IfThenElse(finite, result, hn::CopySign(hn::Inf(F32()), truncated)));
  }

  /// truncated · 2^(254 - below), +0 if that is zero. The power may not be a float: it is the product of two.
  HWY_INLINE static hn::Vec<F32> round_small(hn::Vec<F32> truncated, Gap below) {
    const I32 d;
    const auto exponent =
        hn::Sub(hn::Set(d, bounds::largest_wide_product), hn::BitCast(d, hn::ShiftRight<bounds::f32_fraction_bits>(below)));
    const auto half = hn::ShiftRight<1>(exponent);
    const auto result = hn::Mul(hn::Mul(truncated, power_of_two(half)), power_of_two(hn::Sub(exponent, half)));
    return hn::IfThenZeroElse(hn::Eq(result, hn::Zero(F32())), result);
  }

  const Operands& o_;
  Specials& specials_;
  const FloatPlan& plan_;
  // In the places of the operands' elements. Gaps of A lie twice in a word; those of B in even columns, with the next column's.
  HWY_ALIGN float a_significands_[Operands::max_slots][rows];
  HWY_ALIGN std::uint32_t a_gaps_[Operands::max_slots][rows];
  HWY_ALIGN float b_significands_[Operands::max_elements_of_b];
  HWY_ALIGN std::uint32_t b_gaps_[Operands::max_elements_of_b];
};

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace
}  // namespace warpmat::inline v0_1::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
