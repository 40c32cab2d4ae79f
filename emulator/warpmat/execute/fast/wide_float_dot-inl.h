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
namespace warpmat::HWY_NAMESPACE {
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
    specials_.take_out(a_significands_[0], b_significands_);
    if (o_.has_small_results()) return multiply_small(d);
    add_steps<false>(o_.accumulator(), d);
    specials_.make_nans_canonical(d);
  }

 private:
  // Gaps are 16-bit numbers in the upper halves of words. The lower halves are zeros, or hold gaps of another column.
  using U16 = hn::Repartition<std::uint16_t, U32>;
  using Gap = Word;

  /// Between the two columns of a pair: an element of one is in the same place of a vector of B as that of the other, in the next vector.
  static constexpr int distance = HWY_MAX(vector_rows / Operands::block, 1);

  static constexpr std::uint32_t gap(int exponents) { return static_cast<std::uint32_t>(exponents) << bounds::f32_fraction_bits; }
  HWY_INLINE static Gap add(Gap a, Gap b) { return hn::BitCast(U32(), hn::SaturatedAdd(hn::BitCast(U16(), a), hn::BitCast(U16(), b))); }
  HWY_INLINE static Gap subtract(Gap a, Gap b) {
    return hn::BitCast(U32(), hn::SaturatedSub(hn::BitCast(U16(), a), hn::BitCast(U16(), b)));
  }
  /// Modulo 2^16.
  HWY_INLINE static Gap minus(Gap a, Gap b) { return hn::BitCast(U32(), hn::Sub(hn::BitCast(U16(), a), hn::BitCast(U16(), b))); }
  HWY_INLINE static Gap most(Gap a, Gap b) { return hn::BitCast(U32(), hn::Max(hn::BitCast(U16(), a), hn::BitCast(U16(), b))); }
  HWY_INLINE static Gap least(Gap a, Gap b) { return hn::BitCast(U32(), hn::Min(hn::BitCast(U16(), a), hn::BitCast(U16(), b))); }

  /// The same if all numbers are small: C and the results of steps are floats in units of f32's smallest number, truncated to integers.
  HWY_NOINLINE void multiply_small(std::uint32_t (*d)[rows]) const {
    const std::uint32_t(*c)[rows] = o_.accumulator();
    for (int i = 0; i < columns * rows; i += vector_rows) hn::Store(in_smallest_units(hn::Load(U32(), c[0] + i)), U32(), d[0] + i);
    add_steps<true>(d, d);
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

  /// The significand of a number with a unit bit, times 2^unit_bit.
  template <int unit_bit>
  HWY_INLINE static hn::Vec<F32> normal_significand(Word number) {
    const U32 d;
    return hn::BitCast(F32(), hn::OrAnd(hn::Set(d, gap(bounds::f32_bias + unit_bit)), number, hn::Set(d, 0x807fffffu)));
  }

  /// That of any number, from normal_significand's; 0 of zeros.
  template <int unit_bit>
  HWY_INLINE static hn::Vec<F32> exact_significand(hn::Vec<F32> with_unit_bit, Word number) {
    const U32 d;
    const auto is_subnormal = hn::RebindMask(F32(), has_no(0x7f800000, number));
    const auto added = hn::BitCast(F32(), hn::OrAnd(hn::Set(d, gap(bounds::f32_bias + unit_bit)), number, hn::Set(d, 0x80000000u)));
    return hn::IfThenElse(is_subnormal, hn::Sub(with_unit_bit, added), with_unit_bit);
  }
  template <int unit_bit>
  HWY_INLINE static hn::Vec<F32> exact_significand(Word number) {
    return exact_significand<unit_bit>(normal_significand<unit_bit>(number), number);
  }

  // The gaps between `largest` and the exponents of two numbers, a pair.

  /// Of numbers with a unit bit; those of others are one more than by the rule of dot.h. An infinity or a NaN has any gap: only results
  /// that are replaced see it.
  template <int largest>
  HWY_INLINE static Gap normal_gaps(Word first, Word second) {
    const U32 d;
    const Word upper_halves = hn::OrAnd(hn::ShiftRight<16>(first), second, hn::Set(d, 0xffff0000u));
    return minus(hn::Set(d, gap_twice(largest + bounds::f32_bias)), hn::And(upper_halves, hn::Set(d, gap_twice(255))));
  }

  /// By the rule of dot.h, from normal_gaps'; bounds::no_gap of zeros.
  template <int largest>
  HWY_INLINE static Gap exact_gaps(Gap normal, Word first, Word second) {
    const U32 d;
    const Gap gaps = least(normal, hn::Set(d, gap_twice(largest - bounds::min_f32_exponent)));
    const Gap of_first = hn::IfThenElse(is_zero(first), hn::Or(gaps, hn::Set(d, bounds::no_gap >> 16)), gaps);
    return hn::IfThenElse(is_zero(second), hn::Or(of_first, hn::Set(d, bounds::no_gap)), of_first);
  }
  template <int largest>
  HWY_INLINE static Gap exact_gaps(Word first, Word second) {
    return exact_gaps<largest>(normal_gaps<largest>(first, second), first, second);
  }

  /// Of one number, twice.
  template <int largest>
  HWY_INLINE static Gap exact_gap_twice(Word number) {
    const U32 d;
    HWY_ALIGN static constexpr std::uint8_t upper_halves[] = {2, 3, 2, 3, 6, 7, 6, 7, 10, 11, 10, 11, 14, 15, 14, 15};
    const hn::Repartition<std::uint8_t, U32> bytes;
    const Word twice = hn::BitCast(d, hn::TableLookupBytes(hn::BitCast(bytes, number), hn::LoadDup128(bytes, upper_halves)));
    const Word fields = most(hn::And(twice, hn::Set(d, gap_twice(255))), hn::Set(d, gap_twice(1)));
    return hn::IfThenElse(is_zero(number), hn::Set(d, bounds::no_gap >> 16 | bounds::no_gap),
                          minus(hn::Set(d, gap_twice(largest + bounds::f32_bias)), fields));
  }

  HWY_INLINE static Gap first_of(Gap pair) { return hn::ShiftLeft<16>(pair); }
  HWY_INLINE static Gap second_of(Gap pair) { return hn::And(pair, hn::Set(U32(), 0xffff0000u)); }
  static constexpr std::uint32_t gap_twice(int exponents) { return gap(exponents) >> 16 | gap(exponents); }

  HWY_INLINE void take_apart() {
    constexpr int largest = bounds::largest_f32_exponent;
    const U32 u;
    const auto* const a_values = reinterpret_cast<const std::uint32_t*>(o_.a_values());
    const auto* const b_values = reinterpret_cast<const std::uint32_t*>(o_.b_values());
    const int a_count = o_.slots() * rows, b_count = o_.b_count();  // what is written might be the plan, as far as the compiler knows
    constexpr int unrolled = HWY_MAX(rows / vector_rows, 2) * vector_rows;
    for (int i = taken_apart_ == o_.reads_of_a() ? a_count : 0; i < a_count; i += unrolled) {
      WARPMAT_UNROLL(4)
      for (int k = 0; k < unrolled; k += vector_rows) {
        const Word a = hn::Load(u, a_values + i + k);
        hn::Store(exact_significand<bounds::wide_unit_bit_a>(a), F32(), a_significands_[0] + i + k);
        hn::Store(exact_gap_twice<largest>(a), u, a_gaps_[0] + i + k);
      }
    }
    taken_apart_ = o_.reads_of_a();
    constexpr int numbers = distance * Operands::block;
    for (int i = 0; i < b_count; i += 2 * numbers) {
      WARPMAT_UNROLL(4)
      for (int k = 0; k < numbers; k += vector_rows) {
        const Word first = hn::Load(u, b_values + i + k), second = hn::Load(u, b_values + i + k + numbers);
        hn::Store(exact_significand<bounds::wide_unit_bit_b>(first), F32(), b_significands_ + i + k);
        hn::Store(exact_significand<bounds::wide_unit_bit_b>(second), F32(), b_significands_ + i + k + numbers);
        hn::Store(exact_gaps<largest>(first, second), u, b_gaps_ + i + k);
      }
    }
  }

  /// d = c + all steps. `small`: all numbers are small (multiply_small).
  template <bool small>
  HWY_INLINE void add_steps(const std::uint32_t (*c)[rows], std::uint32_t (*d)[rows]) const {
    const Constants constants(plan_);
    int step = 0;
    o_.for_each_step([&](auto blocks, auto, auto, int first_slot) HWY_ATTR {
      add_step<blocks() * Operands::block, small>(constants, step++, first_slot, c, d);
      c = d;
    });
  }

  /// d = c + a step. Columns are independent of each other, the steps of a column are not.
  template <int slots, bool small>
  HWY_NOINLINE void add_step(const Constants& constants, int step, int first_slot, const std::uint32_t (*c)[rows],
                             std::uint32_t (*d)[rows]) const {
    const bool in_products = specials_.in_products();
    for (int first = 0; first < columns; first += 2 * distance)
      for (int column = first; column < first + distance; ++column)
        for (int row = 0; row < rows; row += vector_rows) {
          const Word c_of_columns[2] = {hn::Load(U32(), c[column] + row), hn::Load(U32(), c[column + distance] + row)};
          Word special[2] = {c_of_columns[0], c_of_columns[1]}, results[2] = {c_of_columns[0], c_of_columns[1]};
          if (!small && HWY_UNLIKELY(in_products))
            for (int i = 0; i < 2; ++i) special[i] = specials_.with_products(step, column + i * distance, row, special[i]);
          if (small || HWY_LIKELY(!in_products) || !all_special(special))
            add_to_two_columns<slots, small>(constants, {first_slot, column, row}, c_of_columns, results);
          for (int i = 0; i < 2; ++i) {
            const Word result = small ? results[i] : hn::IfThenElse(is_special(special[i]), special[i], results[i]);
            hn::Store(result, U32(), d[column + i * distance] + row);
          }
        }
  }

  HWY_INLINE static bool all_special(const Word* two) { return hn::AllTrue(U32(), hn::And(is_special(two[0]), is_special(two[1]))); }

  /// A vector of results of the first column of a pair, and the start of the step that is added to them.
  struct Results {
    int first_slot, column, row;
  };

  /// C of two columns.
  struct Accumulators {
    hn::Vec<F32> first, second;  ///< significands times 2^wide_unit_bit_c
    Gap gaps;                    ///< the pair
  };

  /// If E is at least min_normal_e: zeros and subnormal numbers become others that are cut to zero, too; specials become any numbers.
  HWY_INLINE static Accumulators normal_parts(const Word* c) {
    return {normal_significand<bounds::wide_unit_bit_c>(c[0]), normal_significand<bounds::wide_unit_bit_c>(c[1]),
            normal_gaps<bounds::largest_wide_product>(c[0], c[1])};
  }

  /// Any numbers, from their normal_parts.
  HWY_INLINE static Accumulators exact_parts(const Accumulators& normal, const Word* c) {
    return {exact_significand<bounds::wide_unit_bit_c>(normal.first, c[0]), exact_significand<bounds::wide_unit_bit_c>(normal.second, c[1]),
            exact_gaps<bounds::largest_wide_product>(normal.gaps, c[0], c[1])};
  }

  /// If all numbers are small, of a C in units of f32's smallest number: 0 or at least 1. A zero's gap is beyond max_gap.
  HWY_INLINE static Accumulators small_parts(const Word* c) {
    constexpr int excess = bounds::largest_wide_product + bounds::f32_bias - bounds::smallest_f32_bit - bounds::largest_gap;
    static_assert(excess > 0);
    const U32 u;
    const Word upper_halves = hn::OrAnd(hn::ShiftRight<16>(c[0]), c[1], hn::Set(u, 0xffff0000u));
    const Word fields = subtract(hn::And(upper_halves, hn::Set(u, gap_twice(255))), hn::Set(u, gap_twice(excess)));
    return {normal_significand<bounds::wide_unit_bit_c>(c[0]), normal_significand<bounds::wide_unit_bit_c>(c[1]),
            hn::Sub(hn::Set(u, gap_twice(bounds::largest_gap)), fields)};
  }

  /// The gaps of small_parts by the rule of dot.h: a subnormal's is that of the smallest normal number. A zero's stays beyond max_gap.
  HWY_INLINE static Gap small_gaps_for_e(Gap gaps) {
    const U32 u;
    constexpr int subnormal = bounds::largest_wide_product - bounds::min_f32_exponent;
    constexpr int largest = bounds::largest_wide_product - bounds::smallest_f32_bit;
    static_assert(subnormal + bounds::largest_gap - largest > bounds::max_gap);
    return add(least(gaps, hn::Set(u, gap_twice(subnormal))), subtract(gaps, hn::Set(u, gap_twice(largest))));
  }

  template <int slots, bool small>
  HWY_INLINE void add_to_two_columns(const Constants& constants, const Results& at, const Word* c, Word* results) const {
    static_assert(slots <= bounds::general_group);
    const U32 u;
    Accumulators accumulators = small ? small_parts(c) : normal_parts(c);
    Gap smallest_of[2] = {constants.floor, constants.floor};  // minima of every other product: half as long a chain
    constexpr std::size_t all_slots = slots;                  // an array's bound, which GCC 14 wants unsigned
    Gap gaps[all_slots];
    const std::uint32_t* const a_gaps = a_gaps_[at.first_slot] + at.row;
    const auto b_gaps = o_.factors(u, b_gaps_, at.first_slot, at.column, at.row);
    WARPMAT_UNROLL(16)
    for (int i = 0; i < slots; ++i) {
      gaps[i] = add(hn::Load(u, a_gaps + i * rows), b_gaps[i]);
      smallest_of[i % 2] = least(smallest_of[i % 2], gaps[i]);
    }
    const Gap smallest_product = least(smallest_of[0], smallest_of[1]);
    Gap smallest = least(smallest_product, small ? small_gaps_for_e(accumulators.gaps) : accumulators.gaps);
    // Otherwise only small numbers, or zeros alone, have an E so small.
    const bool has_small_e = !small && !hn::AllTrue(u, hn::Eq(subtract(smallest, hn::Set(u, gap_twice(largest_normal_gap))), hn::Zero(u)));
    if (HWY_UNLIKELY(has_small_e)) {
      accumulators = exact_parts(accumulators, c);
      smallest = least(smallest_product, accumulators.gaps);
    }
    const Gap reach = hn::Add(smallest, constants.reach);
    const float* const a_significands = a_significands_[at.first_slot] + at.row;
    const auto b_first = o_.factors(F32(), b_significands_, at.first_slot, at.column, at.row);
    const auto b_second = o_.factors(F32(), b_significands_, at.first_slot, at.column + distance, at.row);
    auto first = hn::Zero(I32()), second = first;
    WARPMAT_UNROLL(16)
    for (int i = 0; i < slots; ++i) {
      const Gap powers = subtract(reach, gaps[i]);
      const auto a = hn::Load(F32(), a_significands + i * rows);
      first = hn::Add(first, in_units(hn::Mul(a, b_first[i]), first_of(powers)));
      second = hn::Add(second, second_in_units(hn::Mul(a, b_second[i]), powers));
    }
    const Gap powers_of_c = subtract(reach, accumulators.gaps);
    const auto first_c = in_units(accumulators.first, first_of(powers_of_c)), second_c = second_in_units(accumulators.second, powers_of_c);
    Sum sums[2] = {sum_of(first, first_c, first_of(smallest)), sum_of(second, second_c, second_of(smallest))};
    constexpr bool may_overflow = slots > bounds::common_case_group;
    if (may_overflow && HWY_UNLIKELY(!hn::AllFalse(I32(), hn::Lt(hn::Or(sums[0].overflow, sums[1].overflow), hn::Zero(I32()))))) {
      halve(sums[0], first, first_c);
      halve(sums[1], second, second_c);
    }
    for (int i = 0; i < 2; ++i) results[i] = small ? times_small_unit(constants, sums[i]) : times_normal_unit(constants, sums[i]);
    if (HWY_UNLIKELY(has_small_e))
      for (int i = 0; i < 2; ++i) results[i] = with_small_results(constants, sums[i], results[i]);
  }
  static constexpr int largest_normal_gap = bounds::largest_wide_product - bounds::min_normal_e;

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

  /// The same with the power of the second column in a pair of them.
  HWY_INLINE static hn::Vec<I32> second_in_units(hn::Vec<F32> term, Gap powers) {
#if HWY_TARGET <= HWY_AVX3
    constexpr __mmask32 upper_halves = 0xaaaaaaaa;
    const __m512i bits_of_term = _mm512_castps_si512(term.raw);
    return truncate(hn::Vec<F32>{_mm512_castsi512_ps(_mm512_mask_add_epi16(bits_of_term, upper_halves, bits_of_term, powers.raw))});
#else
    return in_units(term, second_of(powers));
#endif
  }

  /// (a + b) / 2 toward zero. If a + b has more than 31 bits, rounding needs no more of it.
  HWY_INLINE static hn::Vec<I32> half_of_sum(hn::Vec<I32> a, hn::Vec<I32> b) {
    const I32 d;
    const auto one = hn::Set(d, 1);
    const auto down = hn::Add(hn::Add(hn::ShiftRight<1>(a), hn::ShiftRight<1>(b)), hn::And(hn::And(a, b), one));
    return hn::Add(down, hn::And(hn::And(hn::Xor(a, b), one), hn::BroadcastSignBit(down)));
  }

  // sum · 2^(E − fraction_bits) in f32, toward zero; infinite beyond its range; +0 if the sum is zero.

  /// If all numbers are small: in units of f32's smallest number, of which the result is a multiple.
  HWY_INLINE static Word times_small_unit(const Constants& constants, const Sum& sum) {
    const auto power = hn::BitCast(F32(), hn::Sub(constants.small_field, sum.gap_of_e));
    return hn::BitCast(U32(), hn::Trunc(hn::Mul(hn::ConvertTo(F32(), sum.sum), power)));
  }

  /// If E is at least min_normal_e: the unit is a normal float. Otherwise any bits.
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

  /// The results where E is less than min_normal_e, `others` elsewhere. In units of f32's smallest number a small result is an integer. Its
  /// bits as an f32 are that integer, or from the smallest normal number on those of the float that it is, with a smaller exponent.
  HWY_INLINE static Word with_small_results(const Constants& constants, const Sum& sum, Word others) {
    const I32 d;
    const auto truncated = hn::ConvertTo(F32(), sum.sum);
    const auto magnitude = hn::Mul(hn::Abs(truncated), hn::BitCast(F32(), hn::Sub(constants.small_field, sum.gap_of_e)));
    const auto smallest_normal = hn::Set(F32(), static_cast<float>(1 << bounds::f32_fraction_bits));
    const auto bits_of_subnormal = truncate(hn::Min(magnitude, smallest_normal));
    const auto bits_of_normal = hn::Sub(hn::BitCast(d, magnitude), hn::Set(d, static_cast<std::int32_t>(gap(-bounds::smallest_f32_bit))));
    const auto bits_of_magnitude = hn::Max(bits_of_subnormal, bits_of_normal);  // the other one is less
    const auto with_sign = hn::OrAnd(bits_of_magnitude, hn::BitCast(d, truncated), hn::Set(d, INT32_MIN));
    const auto small = hn::IfThenZeroElse(hn::Eq(bits_of_magnitude, hn::Zero(d)), with_sign);
    const auto is_small = hn::Gt(sum.gap_of_e, hn::Set(U32(), gap(largest_normal_gap)));
    return hn::IfThenElse(is_small, hn::BitCast(U32(), small), others);
  }

  const Operands& o_;
  Specials& specials_;
  const FloatPlan& plan_;
  unsigned taken_apart_ = 0;  ///< the A that has been
  // In the places of the operands' elements. Gaps of A lie twice in a word; those of B in the first column of a pair, with the second's.
  // Infinities and NaNs of B are there instead of significands if SpecialProducts adds them.
  HWY_ALIGN float a_significands_[Operands::max_slots][rows];
  HWY_ALIGN std::uint32_t a_gaps_[Operands::max_slots][rows];
  HWY_ALIGN float b_significands_[Operands::max_elements_of_b];
  HWY_ALIGN std::uint32_t b_gaps_[Operands::max_elements_of_b];
};

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace
}  // namespace warpmat::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
