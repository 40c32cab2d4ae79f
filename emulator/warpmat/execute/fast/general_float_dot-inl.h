// The fallback of narrow floating-point products, for all numbers; included once for each instruction set, as vectors-inl.h is.
//
// Products times 2^(fraction_bits − E) are truncated to 32-bit integers. As many as fit are added as integers; C and these sums are added
// in doubles, exactly. bounds.h proves the ranges.

#if defined(WARPMAT_FAST_GENERAL_FLOAT_DOT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WARPMAT_FAST_GENERAL_FLOAT_DOT_INL_H_
#undef WARPMAT_FAST_GENERAL_FLOAT_DOT_INL_H_
#else
#define WARPMAT_FAST_GENERAL_FLOAT_DOT_INL_H_
#endif

#include <warpmat/execute/fast/bounds.h>
#include <warpmat/execute/fast/float_operands-inl.h>
#include <warpmat/execute/fast/special_products-inl.h>

HWY_BEFORE_NAMESPACE();
namespace warpmat::HWY_NAMESPACE {
namespace {

#if HWY_TARGET != HWY_SCALAR

template <int bits, bool sparse>
class GeneralFloatDot {
 public:
  using Operands = FloatOperands<bits, false, sparse>;
  using Specials = SpecialProducts<bits, false, sparse>;
  GeneralFloatDot(const Operands& operands, Specials& specials) : o_(operands), specials_(specials), plan_(operands.plan()) {}

  /// Writes d[column][row].
  void multiply(std::uint32_t (*d)[rows]) {
    const std::uint32_t(*c)[rows] = o_.accumulator();
    int step = 0;
    o_.for_each_step([&](auto blocks, auto begin, auto end, int first_slot) HWY_ATTR {
      c = specials_.before(step++, true, c, d);
      add_step<blocks(), begin(), end()>(first_slot, c, d);
      specials_.after(d);
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

  HWY_INLINE bool f16_accumulator() const { return plan_.f16_accumulator; }

  template <int blocks, int begin, int end>
  HWY_INLINE void add_step(int first_slot, const std::uint32_t (*c)[rows], std::uint32_t (*d)[rows]) const {
    HWY_ALIGN std::uint32_t fields[columns][rows];
    o_.template largest_exponents<blocks, begin, end>(first_slot, fields);
    for (int column = 0; column < columns; ++column)
      for (int row = 0; row < rows; row += vector_rows) {
        const Accumulator accumulator = decode(hn::Load(U32(), c[column] + row));
        const auto largest = largest_exponent(fields[column] + row);
        hn::Store(step<blocks * Operands::block, begin, end>({first_slot, column, row}, accumulator, largest), U32(), d[column] + row);
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
    return {hn::IfThenElse(hn::Eq(significand, hn::Zero(d)), hn::Set(d, bounds::no_exponent), exponent),
            hn::ShiftLeftSame(significand, 30 - fraction_bits),
            hn::BroadcastSignBit(hn::ShiftLeftSame(all, 31 - fraction_bits - exponent_bits))};
  }

  /// The largest exponent of the products, from FloatOperands::largest_exponents; no_exponent if all are zero.
  HWY_INLINE static hn::Vec<I32> largest_exponent(const std::uint32_t* fields) {
    const I32 d;
    const auto exponent = hn::Sub(hn::BitCast(d, hn::ShiftRight<23>(hn::Load(U32(), fields))), hn::Set(d, 127));
    return hn::IfThenElse(hn::Lt(exponent, hn::Set(d, bounds::min_plain_product)), hn::Set(d, bounds::no_exponent), exponent);
  }

  /// Elements `begin` to `end` - 1 of each four slots. `products` is their largest exponent before scaling.
  template <int slots, int begin, int end>
  HWY_INLINE Word step(const Results& at, const Accumulator& c, hn::Vec<I32> products) const {
    const I32 d;
    const auto factor_exponent = bits == 8 && plan_.scaled ? o_.scale_exponent(at.column, at.row) : hn::Zero(d);
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
        total = hn::Add(total, truncate(hn::Mul(product, factor)));
      }
      add(sum, promote(total));
    }
    return round(sum, exponent);
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

  /// sum · 2^(exponent − fraction_bits) in the accumulator's format.
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

  const Operands& o_;
  Specials& specials_;
  const FloatPlan& plan_;
};

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace
}  // namespace warpmat::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
