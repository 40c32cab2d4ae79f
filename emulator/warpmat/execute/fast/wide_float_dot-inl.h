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
  WideFloatDot(const Operands& operands, const Specials& specials) : o_(operands), specials_(specials), plan_(operands.plan()) {}

  /// Writes d[column][row].
  void multiply(std::uint32_t (*d)[rows]) {
    take_apart();
    if (o_.has_small_results()) return multiply_small(d);
    const Constants constants(plan_);
    const std::uint32_t(*c)[rows] = o_.accumulator();
    int step = 0;
    o_.for_each_step([&](auto blocks, auto, auto, int first_slot) HWY_ATTR {
      for (int column = 0; column < columns; column += 2)  // which are independent of each other: the steps are not
        for (int row = 0; row < rows; row += vector_rows) {
          Word c_of_columns[2], results[2];
          for (int i = 0; i < 2; ++i)
            c_of_columns[i] = specials_.with_products(step, column + i, row, hn::Load(U32(), c[column + i] + row));
          add_to_two_columns<blocks() * Operands::block, Size::normal>(constants, {first_slot, column, row}, c_of_columns, results);
          for (int i = 0; i < 2; ++i)
            hn::Store(hn::IfThenElse(is_special(c_of_columns[i]), c_of_columns[i], results[i]), U32(), d[column + i] + row);
        }
      c = d;
      ++step;
    });
    specials_.make_nans_canonical(d);
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
  HWY_INLINE static Gap most(Gap a, Gap b) { return hn::BitCast(U32(), hn::Max(hn::BitCast(U16(), a), hn::BitCast(U16(), b))); }
  HWY_INLINE static Gap least(Gap a, Gap b) { return hn::BitCast(U32(), hn::Min(hn::BitCast(U16(), a), hn::BitCast(U16(), b))); }

  /// What is known of a step's results.
  enum class Size {
    normal,  ///< each E is at least min_normal_e
    small,   ///< all numbers are small (FloatOperands::has_small_results); C and the results are in units of f32's smallest number
    any
  };

  /// The same if all numbers are small: between steps results are floats in units of f32's smallest number, truncated to integers.
  HWY_NOINLINE void multiply_small(std::uint32_t (*d)[rows]) const {
    const Constants constants(plan_);
    const std::uint32_t(*c)[rows] = o_.accumulator();
    for (int i = 0; i < columns * rows; i += vector_rows) hn::Store(in_smallest_units(hn::Load(U32(), c[0] + i)), U32(), d[0] + i);
    o_.for_each_step([&](auto blocks, auto, auto, int first_slot) HWY_ATTR {
      for (int column = 0; column < columns; column += 2)
        for (int row = 0; row < rows; row += vector_rows) {
          const Word c_of_columns[2] = {hn::Load(U32(), d[column] + row), hn::Load(U32(), d[column + 1] + row)};
          Word results[2];
          add_to_two_columns<blocks() * Operands::block, Size::small>(constants, {first_slot, column, row}, c_of_columns, results);
          for (int i = 0; i < 2; ++i) hn::Store(results[i], U32(), d[column + i] + row);
        }
    });
    for (int i = 0; i < columns * rows; i += vector_rows) hn::Store(from_smallest_units(hn::Load(U32(), d[0] + i)), U32(), d[0] + i);
  }

  /// A small f32 as a float in units of f32's smallest number.
  HWY_INLINE static Word in_smallest_units(Word number) {
    const U32 u;
    const Word magnitude = hn::And(number, hn::Set(u, INT32_MAX));
    const Word subnormal = hn::BitCast(u, hn::ConvertTo(F32(), hn::BitCast(I32(), magnitude)));
    const Word normal = hn::Add(magnitude, hn::Set(u, gap(-bounds::smallest_f32_bit)));
    const auto is_normal = hn::Gt(hn::BitCast(I32(), magnitude), hn::Set(I32(), (1 << bounds::f32_fraction_bits) - 1));
    return hn::OrAnd(hn::IfThenElse(hn::RebindMask(u, is_normal), normal, subnormal), number, hn::Set(u, 0x80000000u));
  }

  /// The inverse, of an integer. A zero becomes +0.
  HWY_INLINE static Word from_smallest_units(Word units) {
    const U32 u;
    const auto number = hn::Add(hn::BitCast(F32(), units), hn::Zero(F32())), magnitude = hn::Abs(number);
    const Word subnormal = hn::BitCast(u, truncate(magnitude));
    const Word normal = hn::Sub(hn::BitCast(u, magnitude), hn::Set(u, gap(-bounds::smallest_f32_bit)));
    const auto is_normal = hn::RebindMask(u, hn::Ge(magnitude, hn::Set(F32(), static_cast<float>(1 << bounds::f32_fraction_bits))));
    return hn::OrAnd(hn::IfThenElse(is_normal, normal, subnormal), hn::BitCast(u, number), hn::Set(u, 0x80000000u));
  }

  /// Values common to all results; `unit` is 2^(E − fraction_bits).
  struct Constants {
    Gap floor;                     ///< of E, for two columns
    Gap reach;                     ///< plus the gap of E, for two columns: the reach of a step
    Gap fraction_bits;             ///< plus the gap of E: that of the unit
    Gap least_gap, largest_field;  ///< minus the gap of E, if that is not below least_gap: the unit's exponent field, or infinity's
    Gap small_field;               ///< minus the gap of E: the exponent field of the unit in units of f32's smallest number
    HWY_ATTR explicit Constants(const FloatPlan& plan)
        : floor(hn::Set(U32(), gap_twice(HWY_MIN(bounds::max_gap, bounds::largest_wide_product - plan.floor)))),
          reach(hn::Set(U32(), gap_twice(bounds::wide_reach - bounds::max_fraction_bits + plan.fraction_bits))),
          fraction_bits(hn::Set(U32(), gap(plan.fraction_bits))),
          least_gap(hn::Set(U32(), gap(largest_unit_field - 255 - plan.fraction_bits))),
          largest_field(hn::Set(U32(), gap(largest_unit_field - plan.fraction_bits))),
          small_field(hn::Set(U32(), gap(largest_unit_field - plan.fraction_bits - bounds::smallest_f32_bit))) {}
  };
  static constexpr int largest_unit_field = bounds::largest_wide_product + bounds::f32_bias;

  struct Parts {
    hn::Vec<F32> significand;
    Gap gap;  ///< bounds::no_gap for zero. Sums with that of an infinity or a NaN of A or B saturate: E does not see it
  };

  /// A number's significand times 2^unit_bit, and the gap between `largest` and its exponent by the rule of dot.h.
  template <int unit_bit, int largest>
  HWY_INLINE static Parts parts_of(Word number) {
    const U32 d;
    const Word field = hn::And(number, hn::Set(d, 0x7f800000u)), smallest = hn::Set(d, 1u << bounds::f32_fraction_bits);
    const Word gap_of_number = hn::Sub(hn::Set(d, gap(largest + bounds::f32_bias)),
                                       hn::BitCast(d, hn::Max(hn::BitCast(I32(), field), hn::BitCast(I32(), smallest))));
    const auto unit = hn::BitCast(F32(), hn::Set(d, gap(bounds::f32_bias + unit_bit)));
    const auto with_unit_bit = hn::BitCast(F32(), hn::OrAnd(hn::BitCast(d, unit), number, hn::Set(d, 0x807fffffu)));
    const auto is_subnormal = hn::RebindMask(F32(), hn::Eq(field, hn::Zero(d)));
    const auto no_unit_bit = hn::CopySign(hn::IfThenElseZero(is_subnormal, unit), with_unit_bit);
    return {hn::Sub(with_unit_bit, no_unit_bit), hn::IfThenElse(is_zero(number), hn::Set(d, bounds::no_gap), gap_of_number)};
  }

  /// Two gaps in one word: those of an even and of the next column.
  HWY_INLINE static Gap pair_of_gaps(Gap even, Gap odd) { return hn::Or(hn::ShiftRight<16>(even), odd); }
  HWY_INLINE static Gap even_of(Gap pair) { return hn::ShiftLeft<16>(pair); }
  HWY_INLINE static Gap odd_of(Gap pair) { return hn::And(pair, hn::Set(U32(), 0xffff0000u)); }
  static constexpr std::uint32_t gap_twice(int exponents) { return gap(exponents) >> 16 | gap(exponents); }

  HWY_INLINE void take_apart() {
    const U32 u;
    const int a_count = o_.slots() * rows, b_count = o_.b_count();  // what is written might be the plan, as far as the compiler knows
    for (int i = 0; i < a_count; i += vector_rows) {
      const Parts a = parts_of<bounds::wide_unit_bit_a, bounds::largest_f32_exponent>(hn::BitCast(u, hn::Load(F32(), o_.a_values() + i)));
      hn::Store(a.significand, F32(), a_significands_[0] + i);
      hn::Store(pair_of_gaps(a.gap, a.gap), u, a_gaps_[0] + i);
    }
    for (int i = 0; i < b_count; i += vector_rows) {
      const Parts b = parts_of<bounds::wide_unit_bit_b, bounds::largest_f32_exponent>(hn::BitCast(u, hn::Load(F32(), o_.b_values() + i)));
      hn::Store(b.significand, F32(), b_significands_ + i);
      hn::Store(b.gap, u, b_gaps_ + i);
    }
    const hn::CappedTag<std::uint32_t, Operands::block> d;  // a register's elements of a column
    for (int i = 0; i < b_count; i += 2 * Operands::block)
      for (int k = i; k < i + Operands::block; k += static_cast<int>(hn::MaxLanes(d))) {
        const auto even = hn::Load(d, b_gaps_ + k), odd = hn::Load(d, b_gaps_ + k + Operands::block);
        hn::Store(hn::Or(hn::ShiftRight<16>(even), odd), d, b_gaps_ + k);
      }
  }

  /// A vector of results of an even column, and the start of the step that is added to them.
  struct Results {
    int first_slot, column, row;
  };

  /// C of two columns.
  struct Accumulators {
    hn::Vec<F32> even, odd;  ///< significands times 2^wide_unit_bit_c
    Gap gaps;                ///< the pair
  };

  /// Any numbers.
  HWY_INLINE static Accumulators exact_parts(const Word* c) {
    const Parts even = parts_of<bounds::wide_unit_bit_c, bounds::largest_wide_product>(c[0]),
                odd = parts_of<bounds::wide_unit_bit_c, bounds::largest_wide_product>(c[1]);
    return {even.significand, odd.significand, pair_of_gaps(even.gap, odd.gap)};
  }

  /// If E is at least min_normal_e: zeros and subnormal numbers become others that are cut to zero, too; specials become any numbers.
  /// `small`: numbers are in units of f32's smallest number, and E is any.
  template <bool small>
  HWY_INLINE static Accumulators normal_parts(const Word* c) {
    const U32 u;
    const Word unit = hn::Set(u, gap(bounds::f32_bias + bounds::wide_unit_bit_c)), other_bits = hn::Set(u, 0x807fffffu);
    const Word upper_halves = hn::OrAnd(hn::ShiftRight<16>(c[0]), c[1], hn::Set(u, 0xffff0000u));
    constexpr int largest = bounds::largest_wide_product + bounds::f32_bias - (small ? bounds::smallest_f32_bit : 0);
    constexpr int excess = HWY_MAX(largest - bounds::largest_gap, 0);
    Word fields = hn::And(upper_halves, hn::Set(u, gap_twice(255)));
    if (excess != 0) fields = subtract(fields, hn::Set(u, gap_twice(excess)));
    return {hn::BitCast(F32(), hn::OrAnd(unit, c[0], other_bits)), hn::BitCast(F32(), hn::OrAnd(unit, c[1], other_bits)),
            hn::Sub(hn::Set(u, gap_twice(largest - excess)), fields)};
  }

  /// The gaps of a C in units of f32's smallest number by the rule of dot.h: a subnormal's is that of the smallest normal number. A zero's
  /// stays beyond max_gap.
  HWY_INLINE static Gap gaps_for_e(Gap gaps) {
    const U32 u;
    constexpr int subnormal = bounds::largest_wide_product - bounds::min_f32_exponent;
    constexpr int largest = bounds::largest_wide_product - bounds::smallest_f32_bit;
    static_assert(subnormal + bounds::largest_gap - largest > bounds::max_gap);
    return add(least(gaps, hn::Set(u, gap_twice(subnormal))), subtract(gaps, hn::Set(u, gap_twice(largest))));
  }

  /// With Size::normal the function calls itself with Size::any where E is less than min_normal_e.
  template <int slots, Size size>
  HWY_INLINE void add_to_two_columns(const Constants& constants, const Results& at, const Word* c, Word* results) const {
    static_assert(slots <= bounds::general_group);
    const U32 u;
    const Accumulators accumulators = size == Size::any ? exact_parts(c) : normal_parts<size == Size::small>(c);
    // Minima of every other product: half as long a chain.
    Gap smallest_of[2] = {size == Size::small ? gaps_for_e(accumulators.gaps) : accumulators.gaps, constants.floor};
    Gap gaps[slots];
    WARPMAT_UNROLL(16)
    for (int i = 0; i < slots; ++i) {
      gaps[i] = add(hn::Load(u, a_gaps_[at.first_slot + i] + at.row), o_.multiplied_by(u, b_gaps_, at.first_slot, i, at.column, at.row));
      smallest_of[i % 2] = least(smallest_of[i % 2], gaps[i]);
    }
    const Gap smallest = least(smallest_of[0], smallest_of[1]);
    if constexpr (size == Size::normal) {
      const Gap largest_normal = hn::Set(u, gap_twice(bounds::largest_wide_product - bounds::min_normal_e));
      if (HWY_UNLIKELY(!hn::AllTrue(u, hn::Eq(subtract(smallest, largest_normal), hn::Zero(u)))))
        return add_with_any_e<slots>(constants, at, c, results);
    }
    const Gap reach = hn::Add(smallest, constants.reach);
    auto even = hn::Zero(I32()), odd = even;
    WARPMAT_UNROLL(16)
    for (int i = 0; i < slots; ++i) {
      const Gap powers = subtract(reach, gaps[i]);
      const auto a = hn::Load(F32(), a_significands_[at.first_slot + i] + at.row);
      const auto b = [&](int column)
                         HWY_ATTR { return o_.multiplied_by(F32(), b_significands_, at.first_slot, i, at.column + column, at.row); };
      even = hn::Add(even, in_units(hn::Mul(a, b(0)), even_of(powers)));
      odd = hn::Add(odd, odd_in_units(hn::Mul(a, b(1)), powers));
    }
    const Gap powers_of_c = subtract(reach, accumulators.gaps);
    const auto units_even = in_units(accumulators.even, even_of(powers_of_c)), units_odd = odd_in_units(accumulators.odd, powers_of_c);
    Sum sums[2] = {sum_of(even, units_even, even_of(smallest)), sum_of(odd, units_odd, odd_of(smallest))};
    constexpr bool may_overflow = slots > bounds::common_case_group;
    if (may_overflow && HWY_UNLIKELY(!hn::AllFalse(I32(), hn::Lt(hn::Or(sums[0].overflow, sums[1].overflow), hn::Zero(I32()))))) {
      halve(sums[0], even, units_even);
      halve(sums[1], odd, units_odd);
    }
    for (int i = 0; i < 2; ++i) results[i] = times_unit<size>(constants, sums[i]);
  }

  template <int slots>
  HWY_NOINLINE void add_with_any_e(const Constants& constants, const Results& at, const Word* c, Word* results) const {
    add_to_two_columns<slots, Size::any>(constants, at, c, results);
  }

  /// A sum in units, and the gap of E.
  struct Sum {
    hn::Vec<I32> sum, overflow;  ///< sign bits are set where the sum has overflowed
    Gap gap_of_e;
  };

  HWY_INLINE static Sum sum_of(hn::Vec<I32> products, hn::Vec<I32> c, Gap gap_of_e) {
    const auto sum = hn::Add(products, c);
    return {sum, overflow_of(products, c, sum), gap_of_e};
  }

  /// Makes sums that have overflowed half of what they are, in units twice as large.
  HWY_INLINE static void halve(Sum& sum, hn::Vec<I32> products, hn::Vec<I32> c) {
    const auto overflow = hn::Lt(sum.overflow, hn::Zero(I32()));
    sum.sum = hn::IfThenElse(overflow, half_of_sum(products, c), sum.sum);
    sum.gap_of_e = hn::Sub(sum.gap_of_e, hn::IfThenElseZero(hn::RebindMask(U32(), overflow), hn::Set(U32(), gap(1))));
  }

  /// A term times a power of two, whose exponent is at a float's exponent field; truncated.
  HWY_INLINE static hn::Vec<I32> in_units(hn::Vec<F32> term, Gap power) {
    return truncate(hn::BitCast(F32(), hn::Add(hn::BitCast(U32(), term), power)));
  }

  /// The same with the power of the odd column in a pair of them.
  HWY_INLINE static hn::Vec<I32> odd_in_units(hn::Vec<F32> term, Gap powers) {
#if HWY_TARGET <= HWY_AVX3
    constexpr __mmask32 upper_halves = 0xaaaaaaaa;
    const __m512i bits_of_term = _mm512_castps_si512(term.raw);
    return truncate(hn::Vec<F32>{_mm512_castsi512_ps(_mm512_mask_add_epi16(bits_of_term, upper_halves, bits_of_term, powers.raw))});
#else
    return in_units(term, odd_of(powers));
#endif
  }

  /// (a + b) / 2 toward zero. If a + b has more than 31 bits, rounding needs no more of it.
  HWY_INLINE static hn::Vec<I32> half_of_sum(hn::Vec<I32> a, hn::Vec<I32> b) {
    const I32 d;
    const auto one = hn::Set(d, 1);
    const auto down = hn::Add(hn::Add(hn::ShiftRight<1>(a), hn::ShiftRight<1>(b)), hn::And(hn::And(a, b), one));
    return hn::Add(down, hn::And(hn::And(hn::Xor(a, b), one), hn::BroadcastSignBit(down)));
  }

  // sum · 2^(E − fraction_bits) in f32, toward zero; infinite beyond its range; +0 if the sum is zero. Below, the power is 2^(254 - below).

  template <Size size>
  HWY_INLINE static Word times_unit(const Constants& constants, const Sum& sum) {
    if constexpr (size == Size::normal) return times_normal_unit(constants, sum);
    if constexpr (size == Size::small) return times_small_unit(constants, sum);
    return times_any_unit(constants, sum);
  }

  /// If all numbers are small: in units of f32's smallest number, of which the result is a multiple.
  HWY_INLINE static Word times_small_unit(const Constants& constants, const Sum& sum) {
    const auto power = hn::BitCast(F32(), hn::Sub(constants.small_field, sum.gap_of_e));
    return hn::BitCast(U32(), hn::Trunc(hn::Mul(hn::ConvertTo(F32(), sum.sum), power)));
  }

  /// If the power is at least a float's smallest normal number.
  HWY_INLINE static Word times_normal_unit(const Constants& constants, const Sum& sum) {
    const U32 u;
    const auto truncated = hn::ConvertTo(F32(), sum.sum);
#if HWY_TARGET <= HWY_AVX3
    // Exact, or infinite by rounding to nearest. A larger power becomes infinity, by which a zero is not multiplied.
    const Gap power = hn::Sub(constants.largest_field, most(sum.gap_of_e, constants.least_gap));
    const __m512i bits_of_sum = _mm512_castps_si512(truncated.raw);
    return hn::BitCast(
        u, hn::Vec<F32>{_mm512_maskz_mul_round_ps(_mm512_test_epi32_mask(bits_of_sum, bits_of_sum), truncated.raw,
                                                  _mm512_castsi512_ps(power.raw), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)});
#else
    const Gap below = hn::Add(sum.gap_of_e, constants.fraction_bits), bounded = most(below, hn::Set(u, gap(bounds::f32_bias)));
    return or_infinity(hn::Mul(truncated, hn::BitCast(F32(), hn::Sub(hn::Set(u, gap(largest_unit_field)), bounded))), truncated, below);
#endif
  }

  /// `result`, or infinity where truncated · 2^(254 - below) is beyond f32: rounding toward zero stops it at the largest number.
  HWY_INLINE static Word or_infinity(hn::Vec<F32> result, hn::Vec<F32> truncated, Gap below) {
    const U32 u;
    const Word beyond = subtract(hn::And(hn::BitCast(u, truncated), hn::Set(u, 0x7f800000u)), below);
    const auto finite = hn::RebindMask(F32(), hn::Eq(beyond, hn::Zero(u)));
    return hn::BitCast(u, hn::IfThenElse(finite, result, hn::CopySign(hn::Inf(F32()), truncated)));
  }

  /// If the power is any. A result below the normal numbers is an integer in units of f32's smallest number.
  HWY_INLINE static Word times_any_unit(const Constants& constants, const Sum& sum) {
    const I32 d;
    const U32 u;
    const Gap below = hn::Add(sum.gap_of_e, constants.fraction_bits);
    const auto truncated = hn::ConvertTo(F32(), sum.sum);
    const auto bits_of_sum = hn::BitCast(d, truncated), field = hn::And(bits_of_sum, hn::Set(d, 0x7f800000));
    const auto divisor = hn::BitCast(d, hn::Sub(below, hn::Set(u, gap(bounds::largest_wide_product))));  // 1 / power, without the bias
    // A sum's field is at least the bias, a zero's is 0.
    const auto bounded = hn::Max(divisor, hn::Set(d, (bounds::f32_bias - 1) << bounds::f32_fraction_bits));
    const auto is_normal = hn::Gt(field, bounded);
    const Word normal = or_infinity(hn::BitCast(F32(), hn::Sub(bits_of_sum, divisor)), truncated, below);
    const Word to_smallest = hn::Sub(hn::Set(u, gap(bounds::f32_bias - bounds::smallest_f32_bit)), hn::BitCast(u, bounded));
    const auto small = truncate(hn::Mul(hn::Abs(truncated), hn::BitCast(F32(), to_smallest)));
    const auto sign = hn::IfThenElseZero(hn::Ne(small, hn::Zero(d)), hn::And(bits_of_sum, hn::Set(d, INT32_MIN)));
    return hn::IfThenElse(hn::RebindMask(u, is_normal), normal, hn::BitCast(u, hn::Or(small, sign)));
  }

  const Operands& o_;
  const Specials& specials_;
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
