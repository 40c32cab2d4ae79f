// Products in floating point of any numbers; included once for each instruction set, as vectors-inl.h is.
//
// Scaled by 2^(fraction_bits − E), products are truncated to integers, whose sum is exact in a double. Where bf16 and tf32 leave the
// range of a float, or there are scale factors, the products are doubles too.

#if defined(WARPMAT_FAST_ANY_FLOAT_DOT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WARPMAT_FAST_ANY_FLOAT_DOT_INL_H_
#undef WARPMAT_FAST_ANY_FLOAT_DOT_INL_H_
#else
#define WARPMAT_FAST_ANY_FLOAT_DOT_INL_H_
#endif

#include <warpmat/execute/fast/float_operands-inl.h>

HWY_BEFORE_NAMESPACE();
namespace warpmat::HWY_NAMESPACE {
namespace {

#if HWY_TARGET != HWY_SCALAR

constexpr int no_exponent = -30'000;

template <int bits, bool wide, bool sparse>
class AnyFloatDot {
 public:
  using Operands = FloatOperands<bits, wide, sparse>;
  explicit AnyFloatDot(const Operands& operands) : o_(operands), plan_(operands.plan()) {}

  /// Writes d[column][row].
  void multiply(std::uint32_t (*d)[rows]) const {
    const std::uint32_t(*c)[rows] = o_.accumulator();
    o_.for_each_step([&](auto blocks, auto begin, auto end, int first_slot) HWY_ATTR {
      add_step<blocks(), begin(), end()>(first_slot, c, d);
      c = d;
    });
  }

 private:
  /// Twice a vector's half: the rows of a vector of words as doubles.
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

  template <int blocks, int begin, int end>
  HWY_INLINE void add_step(int first_slot, const std::uint32_t (*c)[rows], std::uint32_t (*d)[rows]) const {
    HWY_ALIGN std::uint32_t fields[columns][rows];
    if (!wide) o_.template largest_exponents<blocks, begin, end>(first_slot, fields);
    for (int column = 0; column < columns; ++column)
      for (int row = 0; row < rows; row += vector_rows) {
        const Step s{first_slot, blocks * Operands::block, begin, end, column, row};
        const auto products = wide ? largest_wide_exponent(s) : largest_exponent(fields[column] + row);
        const Word c_bits = hn::Load(U32(), c[column] + row);
        hn::Store(wide || plan_.scaled ? step<true>(s, c_bits, products) : step<false>(s, c_bits, products), U32(), d[column] + row);
      }
  }

  /// Some results of one step: elements `begin` to `end` - 1 of each four of `slots` slots from `first_slot` on.
  struct Step {
    int first_slot, slots, begin, end, column, row;

    bool takes(int i) const { return i % 4 >= begin && i % 4 < end; }
  };

  HWY_INLINE hn::Vec<F32> a(const Step& s, int i) const { return o_.a(s.first_slot + i, s.row); }
  HWY_INLINE hn::Vec<F32> b(const Step& s, int i) const { return o_.b(s.first_slot, i, s.column, s.row); }

  struct Accumulator {
    hn::Vec<I32> exponent;     ///< no_exponent for a zero
    hn::Vec<I32> significand;  ///< a normal number's unit bit is bit 30
    hn::Vec<I32> sign;         ///< 0 or -1
    hn::Vec<F32> special;      ///< its value if that is infinite or NaN, else some number
  };

  HWY_INLINE Accumulator decode(Word c) const {
    const I32 d;
    const int fraction_bits = plan_.f16_accumulator ? 10 : 23, exponent_bits = plan_.f16_accumulator ? 5 : 8;
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const auto all = hn::BitCast(d, c);
    const auto fraction = hn::And(all, hn::Set(d, (1 << fraction_bits) - 1));
    const auto field = hn::And(hn::ShiftRightSame(all, fraction_bits), hn::Set(d, (1 << exponent_bits) - 1));
    const auto significand = hn::IfThenElse(hn::Eq(field, hn::Zero(d)), fraction, hn::Or(fraction, hn::Set(d, 1 << fraction_bits)));
    const auto exponent = hn::Sub(hn::Max(field, hn::Set(d, 1)), hn::Set(d, bias));
    Accumulator out{hn::IfThenElse(hn::Eq(significand, hn::Zero(d)), hn::Set(d, no_exponent), exponent),
                    hn::ShiftLeftSame(significand, 30 - fraction_bits),
                    hn::BroadcastSignBit(hn::ShiftLeftSame(all, 31 - fraction_bits - exponent_bits)), hn::BitCast(F32(), all)};
    if (plan_.f16_accumulator) {
      const auto sign = hn::And(out.sign, hn::Set(d, INT32_MIN));
      const auto as_f32 = hn::Or(hn::Or(sign, hn::Set(d, 0x7f800000)), hn::ShiftLeft<13>(fraction));
      out.special = hn::BitCast(F32(), hn::IfThenElseZero(hn::Eq(field, hn::Set(d, 31)), as_f32));
    }
    return out;
  }

  /// Of the products, from FloatOperands::largest_exponents; no_exponent if all are zero.
  HWY_INLINE static hn::Vec<I32> largest_exponent(const std::uint32_t* fields) {
    const I32 d;
    const auto exponent = hn::Sub(hn::BitCast(d, hn::ShiftRight<23>(hn::Load(U32(), fields))), hn::Set(d, 127));
    return hn::IfThenElse(hn::Lt(exponent, hn::Set(d, -2 * plain_exponent)), hn::Set(d, no_exponent), exponent);
  }

  /// The same where elements have the whole range of f32.
  HWY_INLINE hn::Vec<I32> largest_wide_exponent(const Step& s) const {
    const I32 d;
    const auto exponent = [](hn::Vec<F32> v) HWY_ATTR { return exponents(v, least_f32_exponent, no_exponent); };
    auto largest = hn::Set(d, no_exponent);
    for (int i = 0; i < s.slots; ++i) largest = hn::Max(largest, hn::Add(exponent(a(s, i)), exponent(b(s, i))));
    return hn::IfThenElse(hn::Lt(largest, hn::Set(d, 2 * least_f32_exponent)), hn::Set(d, no_exponent), largest);
  }

  /// With `doubles` products may leave the range of a float, or are scaled. `products` is their largest exponent before scaling.
  template <bool doubles>
  HWY_INLINE Word step(const Step& s, Word c_bits, hn::Vec<I32> products) const {
    const I32 d;
    const Accumulator c = decode(c_bits);
    auto factor_exponent = hn::Zero(d);
    if (plan_.scaled) {
      factor_exponent = o_.scale_exponent(s.column, s.row);
      products = hn::Add(products, factor_exponent);
    }
    const auto exponent = hn::Max(hn::Max(products, c.exponent), hn::Set(d, plan_.floor));
    const auto c_shift = hn::Min(hn::Add(hn::Sub(exponent, c.exponent), hn::Set(d, 30 - plan_.fraction_bits)), hn::Set(d, 31));
    const auto c_magnitude = hn::BitCast(d, hn::Shr(hn::BitCast(U32(), c.significand), hn::BitCast(U32(), c_shift)));
    Doubles sum = promote(hn::Sub(hn::Xor(c_magnitude, c.sign), c.sign));
    const auto scale = hn::Add(hn::Sub(hn::Set(d, plan_.fraction_bits), exponent), factor_exponent);
    // Infinite or NaN if the sum is.
    const auto special = doubles ? add_doubles(s, scale, sum, c.special) : add_floats(s, scale, sum, c.special);
    return with_specials(round(sum, exponent), special);
  }

  HWY_INLINE hn::Vec<F32> add_doubles(const Step& s, hn::Vec<I32> scale, Doubles& sum, hn::Vec<F32> c) const {
    const I32 d;
    Doubles special = promote(c);
    if (plan_.scaled) add(special, promote(o_.scale_nan(s.column, s.row)));
    // A product is less than 2^258, of narrow formats 2^34: with the smallest scale that is used, nothing of it remains.
    const auto bounded = hn::Max(hn::Min(scale, hn::Set(d, 400)), hn::Set(d, -400));
    const Doubles factor = power_of_two_f64(hn::Add(bounded, hn::Set(d, o_.missing_exponent())));
    for (int i = 0; i < s.slots; ++i) {
      if (!s.takes(i)) continue;
      const Doubles p = multiply(promote(a(s, i)), promote(b(s, i)));
      add(special, p);
      const Doubles scaled = multiply(p, factor);
      add(sum, {hn::Trunc(scaled.lower), hn::Trunc(scaled.upper)});
    }
    return demote({infinite_or_zero(special.lower), infinite_or_zero(special.upper)});
  }

  HWY_INLINE hn::Vec<F32> add_floats(const Step& s, hn::Vec<I32> scale, Doubles& sum, hn::Vec<F32> special) const {
    const I32 d;
    const auto bounded = hn::Max(hn::Min(scale, hn::Set(d, 90)), hn::Set(d, -60));
    const auto factor = power_of_two(hn::Add(bounded, hn::Set(d, o_.missing_exponent())));
    for (int four = 0; four < s.slots; four += 4) {
      auto total = hn::Zero(d);
      for (int i = four + s.begin; i < four + s.end; ++i) {
        const auto product = hn::Mul(a(s, i), b(s, i));
        special = hn::Add(special, product);
        total = hn::Add(total, truncate(hn::Mul(product, factor)));
      }
      add(sum, promote(total));
    }
    return special;
  }

  /// `x` where it is infinite or NaN, else 0.
  HWY_INLINE static hn::Vec<F64> infinite_or_zero(hn::Vec<F64> x) {
    return hn::IfThenZeroElse(hn::Lt(hn::Abs(x), hn::Set(F64(), 1e300)), x);
  }

  /// sum · 2^(exponent − fraction_bits) in the accumulator's format.
  HWY_INLINE Word round(const Doubles& sum, hn::Vec<I32> exponent) const {
    const U32 d;
    const auto unit = hn::Max(hn::Sub(exponent, hn::Set(I32(), plan_.fraction_bits)), hn::Set(I32(), -400));
    const Doubles exact = multiply(sum, power_of_two_f64(unit));
    const auto truncated = demote(exact);
    if (plan_.f16_accumulator) {
      const Doubles back = promote(truncated);
      const auto one = hn::Set(F64(), 1.0);
      const Doubles inexact{hn::IfThenElseZero(hn::Ne(exact.lower, back.lower), one),
                            hn::IfThenElseZero(hn::Ne(exact.upper, back.upper), one)};
      const Word last = hn::IfThenElseZero(hn::Ne(hn::BitCast(d, demote(inexact)), hn::Zero(d)), hn::Set(d, 1u));
      return f32_to_f16(hn::BitCast(F32(), hn::Or(hn::BitCast(d, truncated), last)));
    }
    // Toward zero, the conversion stops at the largest number.
    const auto limit = hn::Set(F64(), 0x1p128), huge = hn::Set(F64(), 1.0);
    const Doubles over{hn::IfThenElseZero(hn::Ge(hn::Abs(exact.lower), limit), huge),
                       hn::IfThenElseZero(hn::Ge(hn::Abs(exact.upper), limit), huge)};
    const Word bits32 = hn::BitCast(d, truncated);
    const Word infinity = hn::Or(hn::And(bits32, hn::Set(d, 0x80000000u)), hn::Set(d, 0x7f800000u));
    const Word result = hn::IfThenElse(hn::Ne(hn::BitCast(d, demote(over)), hn::Zero(d)), infinity, bits32);
    const Word kept = hn::And(result, hn::Set(d, ~0u << (23 - plan_.result_fraction_bits)));
    return hn::IfThenZeroElse(hn::Eq(hn::ShiftLeft<1>(kept), hn::Zero(d)), kept);
  }

  /// `result`, except where `special` is infinite or NaN.
  HWY_INLINE Word with_specials(Word result, hn::Vec<F32> special) const {
    const U32 d;
    const Word all = hn::BitCast(d, special);
    const Word magnitude = hn::And(all, hn::Set(d, 0x7fffffffu)), sign = hn::And(all, hn::Set(d, 0x80000000u));
    const Word infinity = hn::Set(d, plan_.f16_accumulator ? 0x7c00u : 0x7f800000u),
               nan = hn::Set(d, plan_.f16_accumulator ? 0x7fffu : 0x7fffffffu);
    const Word limit = hn::Set(d, 0x7f800000u);
    result = hn::IfThenElse(hn::Eq(magnitude, limit), hn::Or(infinity, hn::ShiftRightSame(sign, plan_.f16_accumulator ? 16 : 0)), result);
    return hn::IfThenElse(hn::Gt(magnitude, limit), nan, result);
  }

  const Operands& o_;
  const FloatPlan& plan_;
};

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace
}  // namespace warpmat::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
