// The fallback of floating-point products, for all numbers; included once for each instruction set, as vectors-inl.h is.
//
// Products times 2^(fraction_bits − E) are truncated to 32-bit integers. As many as fit are added as integers; C and these sums are added
// in doubles, exactly. Products of bf16 and tf32 leave the range of a float, so their significands are multiplied as floats and the
// exponents are added separately. bounds.h proves the ranges.

#if defined(WARPMAT_FAST_GENERAL_FLOAT_DOT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WARPMAT_FAST_GENERAL_FLOAT_DOT_INL_H_
#undef WARPMAT_FAST_GENERAL_FLOAT_DOT_INL_H_
#else
#define WARPMAT_FAST_GENERAL_FLOAT_DOT_INL_H_
#endif

#include <warpmat/execute/fast/bounds.h>
#include <warpmat/execute/fast/float_operands-inl.h>

HWY_BEFORE_NAMESPACE();
namespace warpmat::inline v0_1::HWY_NAMESPACE {
namespace {

#if HWY_TARGET != HWY_SCALAR

template <int bits, bool wide, bool sparse>
class GeneralFloatDot {
 public:
  using Operands = FloatOperands<bits, wide, sparse>;
  explicit GeneralFloatDot(const Operands& operands) : o_(operands), plan_(operands.plan()) {}

  /// Writes d[column][row].
  void multiply(std::uint32_t (*d)[rows]) {
    if constexpr (wide) take_apart();
    const std::uint32_t(*c)[rows] = o_.accumulator();
    o_.for_each_step([&](auto blocks, auto begin, auto end, int first_slot) HWY_ATTR {
      add_step<blocks(), begin(), end()>(first_slot, c, d);
      c = d;
    });
  }

 private:
  /// Two halves: the rows of a vector of words as doubles.
  struct Doubles {
    hn::Vec<F64> lower, upper;
  };

  HWY_INLINE static Doubles promote(hn::Vec<F32> v) {
    return {hn::PromoteTo(F64(), hn::LowerHalf(v)), hn::PromoteTo(F64(), hn::UpperHalf(hn::Half<F32>(), v))};
  }
  HWY_INLINE static Doubles promote(hn::Vec<I32> v) { return {lower_to_f64(v), upper_to_f64(v)}; }
  HWY_INLINE static Doubles power_of_two_f64(hn::Vec<I32> v) { return {lower_power_of_two(v), upper_power_of_two(v)}; }
  HWY_INLINE static void add(Doubles& sum, const Doubles& v) {
    sum.lower = hn::Add(sum.lower, v.lower);
    sum.upper = hn::Add(sum.upper, v.upper);
  }
  HWY_INLINE static Doubles multiply(const Doubles& a, const Doubles& b) { return {hn::Mul(a.lower, b.lower), hn::Mul(a.upper, b.upper)}; }
  HWY_INLINE static hn::Vec<F32> demote(const Doubles& v) {
    const hn::Half<F32> half;
    return hn::Combine(F32(), hn::DemoteTo(half, v.upper), hn::DemoteTo(half, v.lower));
  }

  /// Wide products never have an f16 accumulator.
  HWY_INLINE bool f16_accumulator() const {
    if constexpr (wide) return false;
    return plan_.f16_accumulator;
  }

  template <int blocks, int begin, int end>
  HWY_INLINE void add_step(int first_slot, const std::uint32_t (*c)[rows], std::uint32_t (*d)[rows]) const {
    constexpr int slots = blocks * Operands::block;
    HWY_ALIGN std::uint32_t fields[columns][rows];
    if constexpr (!wide) o_.template largest_exponents<blocks, begin, end>(first_slot, fields);
    for (int column = 0; column < columns; ++column)
      for (int row = 0; row < rows; row += vector_rows) {
        const Results at{first_slot, column, row};
        const Accumulator accumulator = decode(hn::Load(U32(), c[column] + row));
        Word result;
        if constexpr (wide) {
          result = wide_step<slots>(at, accumulator);
        } else {
          result = narrow_step<slots, begin, end>(at, accumulator, largest_exponent(fields[column] + row));
        }
        hn::Store(result, U32(), d[column] + row);
      }
  }

  /// A vector of results, and the start of the step that is added to them.
  struct Results {
    int first_slot, column, row;
  };

  struct Accumulator {
    hn::Vec<I32> exponent;     ///< bounds::no_exponent for a zero
    hn::Vec<I32> significand;  ///< a normal number's unit bit is bit 30
    hn::Vec<I32> sign;         ///< 0 or -1
    hn::Vec<F32> special;      ///< its value if that is infinite or NaN, else any number
  };

  HWY_INLINE Accumulator decode(Word c) const {
    const I32 d;
    const int fraction_bits = f16_accumulator() ? 10 : 23, exponent_bits = f16_accumulator() ? 5 : 8;
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const auto all = hn::BitCast(d, c);
    const auto fraction = hn::And(all, hn::Set(d, (1 << fraction_bits) - 1));
    const auto field = hn::And(hn::ShiftRightSame(all, fraction_bits), hn::Set(d, (1 << exponent_bits) - 1));
    const auto significand = hn::IfThenElse(hn::Eq(field, hn::Zero(d)), fraction, hn::Or(fraction, hn::Set(d, 1 << fraction_bits)));
    const auto exponent = hn::Sub(hn::Max(field, hn::Set(d, 1)), hn::Set(d, bias));
    Accumulator out{hn::IfThenElse(hn::Eq(significand, hn::Zero(d)), hn::Set(d, bounds::no_exponent), exponent),
                    hn::ShiftLeftSame(significand, 30 - fraction_bits),
                    hn::BroadcastSignBit(hn::ShiftLeftSame(all, 31 - fraction_bits - exponent_bits)), hn::BitCast(F32(), all)};
    if (f16_accumulator()) {
      const auto sign = hn::And(out.sign, hn::Set(d, INT32_MIN));
      const auto as_f32 = hn::Or(hn::Or(sign, hn::Set(d, 0x7f800000)), hn::ShiftLeft<13>(fraction));
      out.special = hn::BitCast(F32(), hn::IfThenElseZero(hn::Eq(field, hn::Set(d, 31)), as_f32));
    }
    return out;
  }

  /// The largest exponent of the products, from FloatOperands::largest_exponents; no_exponent if all are zero.
  HWY_INLINE static hn::Vec<I32> largest_exponent(const std::uint32_t* fields) {
    const I32 d;
    const auto exponent = hn::Sub(hn::BitCast(d, hn::ShiftRight<23>(hn::Load(U32(), fields))), hn::Set(d, 127));
    return hn::IfThenElse(hn::Lt(exponent, hn::Set(d, bounds::min_plain_product)), hn::Set(d, bounds::no_exponent), exponent);
  }

  /// One step of products that are floats: elements `begin` to `end` - 1 of each four slots. `products` is their largest exponent before
  /// scaling.
  template <int slots, int begin, int end>
  HWY_INLINE Word narrow_step(const Results& at, const Accumulator& c, hn::Vec<I32> products) const {
    const I32 d;
    auto special = c.special;
    auto factor_exponent = hn::Zero(d);
    if (bits == 8 && plan_.scaled) {
      factor_exponent = o_.scale_exponent(at.column, at.row);
      special = hn::Add(special, o_.scale_nan(at.column, at.row));
    }
    const auto exponent = largest_of(hn::Add(products, factor_exponent), c);
    const auto to_units = hn::Add(hn::Sub(hn::Set(d, plan_.fraction_bits), exponent), factor_exponent);
    const auto bounded = hn::Max(hn::Min(to_units, hn::Set(d, bounds::largest_narrow_factor)), hn::Set(d, bounds::min_narrow_factor));
    const auto factor = power_of_two(hn::Add(bounded, hn::Set(d, o_.missing_exponent())));
    Doubles sum = promote(units_of(c, exponent));
    constexpr int group = HWY_MIN(bounds::general_group * 4 / (end - begin), slots);
    for (int first = 0; first < slots; first += group) {
      auto total = hn::Zero(d);
      WARPMAT_UNROLL(4)
      for (int i = first; i < first + group; ++i) {
        if (i % 4 < begin || i % 4 >= end) continue;
        const auto product = hn::Mul(o_.a(at.first_slot + i, at.row), o_.b(at.first_slot, i, at.column, at.row));
        special = hn::Add(special, product);
        total = hn::Add(total, truncate(hn::Mul(product, factor)));
      }
      add(sum, promote(total));
    }
    return with_specials(round(sum, exponent), special);
  }

  /// The same for elements with the range of f32.
  template <int slots>
  HWY_INLINE Word wide_step(const Results& at, const Accumulator& c) const {
    static_assert(slots <= bounds::general_group);
    const I32 d;
    hn::Vec<I32> exponents[slots];
    auto largest = hn::Set(d, bounds::no_exponent);
    WARPMAT_UNROLL(16)
    for (int i = 0; i < slots; ++i) {
      exponents[i] = hn::Add(hn::Load(d, a_exponents_[at.first_slot + i] + at.row),
                             o_.multiplied_by(d, b_exponents_, at.first_slot, i, at.column, at.row));
      largest = hn::Max(largest, exponents[i]);
    }
    const auto exponent = largest_of(largest, c);
    // As exponent fields.
    const auto to_units = hn::Sub(hn::Set(d, plan_.fraction_bits + bounds::f32_bias), exponent);
    const auto least = hn::Set(d, bounds::min_wide_factor + bounds::f32_bias);
    auto special = c.special;
    auto total = hn::Zero(d);
    WARPMAT_UNROLL(16)
    for (int i = 0; i < slots; ++i) {
      const auto factor = hn::BitCast(F32(), hn::ShiftLeft<23>(hn::Max(hn::Add(exponents[i], to_units), least)));
      const auto product = hn::Mul(hn::Load(F32(), a_significands_[at.first_slot + i] + at.row),
                                   o_.multiplied_by(F32(), b_significands_, at.first_slot, i, at.column, at.row));
      special = hn::Add(special, product);
      total = hn::Add(total, truncate(hn::Mul(product, factor)));
    }
    const auto c_units = units_of(c, exponent), sum = hn::Add(total, c_units);
    if (HWY_LIKELY(hn::AllFalse(d, hn::Lt(overflow_of(total, c_units, sum), hn::Zero(d)))))
      return with_specials(round(sum, exponent), special);
    Doubles long_sum = promote(c_units);
    add(long_sum, promote(total));
    return with_specials(round(long_sum, exponent), special);
  }

  /// The exponent E of the unit: the largest of the products' exponents, C's exponent and the floor.
  HWY_INLINE hn::Vec<I32> largest_of(hn::Vec<I32> products, const Accumulator& c) const {
    return hn::Max(hn::Max(products, c.exponent), hn::Set(I32(), plan_.floor));
  }

  /// C in units of 2^(exponent − fraction_bits), truncated.
  HWY_INLINE hn::Vec<I32> units_of(const Accumulator& c, hn::Vec<I32> exponent) const {
    const I32 d;
    const auto shift = hn::Min(hn::Add(hn::Sub(exponent, c.exponent), hn::Set(d, 30 - plan_.fraction_bits)), hn::Set(d, 31));
    const auto magnitude = hn::BitCast(d, hn::Shr(hn::BitCast(U32(), c.significand), hn::BitCast(U32(), shift)));
    return hn::Sub(hn::Xor(magnitude, c.sign), c.sign);
  }

  /// Splits elements of A and B into significands of magnitude 0 or 1 to 2 (less if subnormal) and exponents. Infinities and NaNs are
  /// unchanged.
  HWY_INLINE void take_apart() {
    take_apart(o_.a_values(), o_.slots() * rows, a_significands_[0], a_exponents_[0]);
    take_apart(o_.b_values(), o_.b_count(), b_significands_, b_exponents_);
  }

  HWY_INLINE static void take_apart(const float* from, int count, float* significands, std::int32_t* exponents) {
    const I32 d;
    const auto fraction_mask = hn::Set(d, (1 << 23) - 1), one = hn::BitCast(d, hn::Set(F32(), 1.0f));
    for (int i = 0; i < count; i += vector_rows) {
      const auto number = hn::Load(F32(), from + i);
      const auto all = hn::BitCast(d, number), magnitude = hn::And(all, hn::Set(d, INT32_MAX));
      const auto sign = hn::AndNot(hn::Set(d, INT32_MAX), all);
      const auto with_one = hn::BitCast(F32(), hn::Or(hn::And(all, fraction_mask), one));
      const auto is_subnormal = hn::RebindMask(F32(), hn::Lt(magnitude, hn::Set(d, 1 << 23)));
      const auto finite = hn::IfThenElse(is_subnormal, hn::Sub(with_one, hn::Set(F32(), 1.0f)), with_one);
      const auto is_special = hn::RebindMask(F32(), hn::Gt(magnitude, hn::Set(d, 0x7f7fffff)));
      hn::Store(hn::IfThenElse(is_special, number, hn::Or(finite, hn::BitCast(F32(), sign))), F32(), significands + i);
      hn::Store(HWY_NAMESPACE::exponents(number, bounds::min_f32_exponent, bounds::no_exponent), d, exponents + i);
    }
  }

  /// sum · 2^(exponent − fraction_bits) in f32. The unit may not be a float: it is the product of two.
  HWY_INLINE Word round(hn::Vec<I32> sum, hn::Vec<I32> exponent) const {
    const I32 d;
    const auto unit = hn::Max(hn::Sub(exponent, hn::Set(d, plan_.fraction_bits)), hn::Set(d, bounds::min_split_unit));
    const auto half = hn::ShiftRight<1>(unit);
    const auto truncated = hn::ConvertTo(F32(), sum);
    const auto result = hn::Mul(hn::Mul(truncated, power_of_two(half)), power_of_two(hn::Sub(unit, half)));
    // Rounding toward zero stops the product at the largest number.
    const auto field = hn::Add(hn::ShiftRight<bounds::f32_fraction_bits>(hn::BitCast(d, hn::Abs(truncated))), unit);
    const auto bits32 = hn::BitCast(d, result);
    const auto infinity = hn::Or(hn::And(bits32, hn::Set(d, INT32_MIN)), hn::Set(d, 0x7f800000));
    const auto rounded = hn::IfThenElse(hn::Gt(field, hn::Set(d, bounds::f32_bias + bounds::largest_f32_exponent)), infinity, bits32);
    return hn::BitCast(U32(), hn::IfThenZeroElse(hn::Eq(hn::ShiftLeft<1>(rounded), hn::Zero(d)), rounded));
  }

  /// The same in the accumulator's format.
  HWY_INLINE Word round(const Doubles& sum, hn::Vec<I32> exponent) const {
    const U32 d;
    const auto unit = hn::Max(hn::Sub(exponent, hn::Set(I32(), plan_.fraction_bits)), hn::Set(I32(), bounds::min_unit));
    const Doubles exact = multiply(sum, power_of_two_f64(unit));
    const auto truncated = demote(exact);
    if (f16_accumulator()) {
      const Doubles back = promote(truncated);
      const auto one = hn::Set(F64(), 1.0);
      const Doubles inexact{hn::IfThenElseZero(hn::Ne(exact.lower, back.lower), one),
                            hn::IfThenElseZero(hn::Ne(exact.upper, back.upper), one)};
      const Word last = hn::IfThenElseZero(hn::Ne(hn::BitCast(d, demote(inexact)), hn::Zero(d)), hn::Set(d, 1u));
      return f32_to_f16(hn::BitCast(F32(), hn::Or(hn::BitCast(d, truncated), last)));
    }
    // Rounding toward zero stops the conversion at the largest number.
    const auto limit = hn::Set(F64(), 0x1p128), huge = hn::Set(F64(), 1.0);
    const Doubles over{hn::IfThenElseZero(hn::Ge(hn::Abs(exact.lower), limit), huge),
                       hn::IfThenElseZero(hn::Ge(hn::Abs(exact.upper), limit), huge)};
    const Word bits32 = hn::BitCast(d, truncated);
    const Word infinity = hn::Or(hn::And(bits32, hn::Set(d, 0x80000000u)), hn::Set(d, 0x7f800000u));
    const Word result = hn::IfThenElse(hn::Ne(hn::BitCast(d, demote(over)), hn::Zero(d)), infinity, bits32);
    const Word kept = hn::And(result, hn::Set(d, ~0u << (23 - plan_.result_fraction_bits)));
    return hn::IfThenZeroElse(hn::Eq(hn::ShiftLeft<1>(kept), hn::Zero(d)), kept);
  }

  /// `result`, or `special` where that is infinite or NaN.
  HWY_INLINE Word with_specials(Word result, hn::Vec<F32> special) const {
    const U32 d;
    const Word all = hn::BitCast(d, special);
    const Word magnitude = hn::And(all, hn::Set(d, 0x7fffffffu)), sign = hn::And(all, hn::Set(d, 0x80000000u));
    const Word infinity = hn::Set(d, f16_accumulator() ? 0x7c00u : 0x7f800000u),
               nan = hn::Set(d, f16_accumulator() ? 0x7fffu : 0x7fffffffu);
    const Word limit = hn::Set(d, 0x7f800000u);
    result = hn::IfThenElse(hn::Eq(magnitude, limit), hn::Or(infinity, hn::ShiftRightSame(sign, f16_accumulator() ? 16 : 0)), result);
    return hn::IfThenElse(hn::Gt(magnitude, limit), nan, result);
  }

  const Operands& o_;
  const FloatPlan& plan_;
  // For wide formats, in the places of the operands' elements.
  static constexpr int kept_slots = wide ? Operands::max_slots : 1, kept_elements = wide ? Operands::max_elements_of_b : 1;
  HWY_ALIGN float a_significands_[kept_slots][rows];
  HWY_ALIGN std::int32_t a_exponents_[kept_slots][rows];
  HWY_ALIGN float b_significands_[kept_elements];
  HWY_ALIGN std::int32_t b_exponents_[kept_elements];
};

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace
}  // namespace warpmat::inline v0_1::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
