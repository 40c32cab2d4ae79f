// Kernels of the approximate instructions, compiled once for each instruction set.

#include <warpmat/scalar/approximate.h>

#include <array>
#include <limits>
#include <span>
#include <vector>

#include <warpmat/numeric/persistent.h>
#include <warpmat/scalar/kernels.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "warpmat/scalar/approximate.cpp"
#include <hwy/foreach_target.h>

#include <warpmat/numeric/pair_products-inl.h>
#include <warpmat/scalar/lanes-inl.h>

#ifndef WARPMAT_SCALAR_UNIT_TABLES
#define WARPMAT_SCALAR_UNIT_TABLES
namespace warpmat::scalar {

/// Which bits of x, two to the right, are factors in truncated_squares(): 16 - k in the lower half of words and 15 - k in the upper half,
/// for k = 2, 4, 6 and 8; low >> 9 is zero. These and other constants of the kernels are in memory because the compiler would otherwise
/// build each in a register, with an instruction that competes with the look-ups.
struct UnitConstants {
  std::array<std::uint32_t, 4> cross{1 << 13 << 16 | 1 << 14, 1 << 11 << 16 | 1 << 12, 1 << 9 << 16 | 1 << 10, 1 << 8};
  std::uint32_t low_9_bits = 511, ones = 0x10001;
  std::uint32_t bit_5 = 32, bit_6 = 64;  ///< of a row's number
  std::uint32_t low_17_bits = (1U << multi_function::segment_bits) - 1;
};

/// The rows of a function of the unit, in words; `count` is a power of two.
template <std::size_t count>
struct SegmentTable : UnitConstants {
  explicit SegmentTable(std::span<const multi_function::Segment> segments) {
    for (std::size_t i = 0; i < segments.size(); ++i) {
      c0[i] = static_cast<std::uint32_t>(segments[i].c0);
      c1[i] = static_cast<std::uint32_t>(segments[i].c1);
      c2[i] = static_cast<std::uint32_t>(segments[i].c2);
    }
  }
  alignas(64) std::array<std::uint32_t, count> c0{}, c1{}, c2{};
};

/// tanh's, and in `binades` those of tanh_binades: the dropped bits, and from bit 8 on the first row.
struct TanhTable : SegmentTable<64> {
  TanhTable() : SegmentTable(multi_function::tanh_segments) {
    for (std::size_t i = 0; i < multi_function::tanh_binade_count; ++i)
      binades[i] = multi_function::tanh_binades[i].first_row * 256U + multi_function::tanh_binades[i].dropped_bits;
  }
  alignas(64) std::array<std::uint32_t, 32> binades{};
};

/// Built by the first call.
const TanhTable& tanh_table();

/// A function whose sums 32 bits can add, and constants of its kernel.
struct PairFunction {
  const multi_function::Segment* segments;
  std::size_t rows;
  multi_function::Interpolation f;
  std::int32_t c1_offset;   ///< c1 minus this is a signed number of 16 bits
  int leading;              ///< the number of the sums' leading bit; 0 if it is not one for all
  std::size_t flip;         ///< row i is segment i ^ flip
  std::uint32_t exponent;   ///< what the kernel adds an operand's exponent to, or subtracts it from; in the place of f32's
  std::uint32_t kept_bits;  ///< that exponent's, and the sign if it is the result's

  constexpr int unit() const { return f.c1_shift; }  ///< of the sums, which have no bits below
};

/// Its rows: c0 in units of 2^9; c1 - c1_offset in the upper half, c2 in the lower.
struct PairTable : UnitConstants {
  explicit PairTable(const PairFunction& g)
      : rounding(static_cast<std::uint32_t>(g.f.rounding >> g.unit())), exponent(g.exponent), kept_bits(g.kept_bits) {
    for (std::size_t i = 0; i < g.rows; ++i) {
      const multi_function::Segment& s = g.segments[i ^ g.flip];
      c0[i] = static_cast<std::uint32_t>(s.c0) << (g.f.c0_shift - g.unit() - 9);
      c1_c2[i] =
          static_cast<std::uint32_t>(s.c1 - g.c1_offset) << 16 | (static_cast<std::uint32_t>(s.c2) << (g.f.c2_shift - g.unit()) & 0xffff);
    }
  }
  alignas(64) std::array<std::uint32_t, 128> c0{}, c1_c2{};
  std::uint32_t rounding, exponent, kept_bits;
  std::uint32_t low_16_bits = 0xffff, fraction_bits = 0x7fffff, low_24_bits = 0xffffff, exponent_step = 1 << 23;
};

/// Built by the first call.
template <std::size_t count, const auto& segments>
const SegmentTable<count>& segment_table() {
  static constinit Persistent<SegmentTable<count>> table;
  return table.get([] { return SegmentTable<count>(segments); });
}

/// The exponent of an operand with the bias 127 is odd where its lowest bit, as stored, is 0. Such segments are the second 64.
inline constexpr std::uint32_t of_exponent_bits = 0xff800000;
inline constexpr PairFunction rcp_pairs{
    multi_function::rcp_segments, 128, multi_function::rcp_interpolation, -(1 << 15), 39, 0, 252U << 23, of_exponent_bits};
inline constexpr PairFunction rsq_pairs{
    multi_function::rsq_segments, 128, multi_function::rsq_interpolation, -(1 << 15), 39, 64, 189U << 23, of_exponent_bits};
inline constexpr PairFunction sqrt_pairs{
    multi_function::sqrt_segments, 128, multi_function::sqrt_interpolation, 1 << 16, 40, 64, 62U << 23, of_exponent_bits};

inline constexpr PairFunction ex2_pairs{
    multi_function::ex2_segments, 64, multi_function::ex2_interpolation, 1 << 15, 38, 0, 126U << 23, of_exponent_bits};
inline constexpr PairFunction sin_pairs{multi_function::sin_segments, 64, multi_function::sin_interpolation, 0, 0, 0, 0, 0};

template <const PairFunction& g>
const PairTable& pair_table() {
  static constinit Persistent<PairTable> table;
  return table.get([] { return PairTable(g); });
}

/// A function of f16 or bf16 codes.
using HalfFunction = std::uint16_t (*)(std::uint16_t);

/// The results of `f` for all codes, built by the first call.
template <HalfFunction f>
const std::uint16_t* all_results() {
  static constinit Persistent<std::vector<std::uint16_t>> results;
  return results
      .get([] {
        std::vector<std::uint16_t> of_codes(1 << 16);
        for (std::size_t code = 0; code < of_codes.size(); ++code) of_codes[code] = f(static_cast<std::uint16_t>(code));
        return of_codes;
      })
      .data();
}

}  // namespace warpmat::scalar
#endif

HWY_BEFORE_NAMESPACE();
namespace warpmat::scalar::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
namespace unit = multi_function;

using Words = hn::CappedTag<std::uint32_t, 32>;
using SignedWords = hn::RebindToSigned<Words>;
using FloatWords = hn::RebindToFloat<Words>;
using Word = hn::Vec<Words>;
using Floats = hn::Vec<FloatWords>;

// VPERMI2D looks up 32 words; VCVTTPS2DQ needs no correction for operands in range. Highway 1.0.3 has no functions for these.

// Vectors of one lane do not use all of these.

/// The sum of the signed products of both halves of each word.
[[maybe_unused]] HWY_INLINE Word pair_products(Word a, Word b) {
  const SignedWords d;
  return hn::BitCast(Words(), warpmat::HWY_NAMESPACE::add_pair_products(d, hn::Zero(d), hn::BitCast(d, a), hn::BitCast(d, b)));
}

#if HWY_TARGET <= HWY_AVX3

/// Whether any bit of `mask` is set.
HWY_INLINE hn::Mask<Words> any_bit(Word x, Word mask) {
  return hn::Mask<Words>{_mm512_test_epi32_mask(x.raw, mask.raw)};
}

/// Elements `row` modulo `count` of `count` words: 32, 64 or 128.
template <std::size_t count>
HWY_INLINE Word look_up_words(const UnitConstants& t, const std::uint32_t* words, Word row) {
  const Words d;
  if constexpr (count == 32) {
    const Word lower = hn::LoadU(d, words), upper = hn::LoadU(d, words + 16);
    return Word{_mm512_permutex2var_epi32(lower.raw, row.raw, upper.raw)};
  } else {
    const auto in_upper = any_bit(row, hn::Set(d, count == 64 ? t.bit_5 : t.bit_6));
    return hn::IfThenElse(in_upper, look_up_words<count / 2>(t, words + count / 2, row), look_up_words<count / 2>(t, words, row));
  }
}

/// Toward zero; the magnitude is below 2^31.
HWY_INLINE hn::Vec<SignedWords> truncate(Floats x) {
  return hn::Vec<SignedWords>{_mm512_cvttps_epi32(x.raw)};
}

#else

template <std::size_t count>
HWY_INLINE Word look_up_words(const UnitConstants&, const std::uint32_t* words, Word row) {
  return hn::GatherIndex(Words(), words, hn::BitCast(SignedWords(), hn::And(row, hn::Set(Words(), count - 1))));
}

[[maybe_unused]] HWY_INLINE hn::Vec<SignedWords> truncate(Floats x) {
  return hn::ConvertTo(SignedWords(), x);
}

[[maybe_unused]] HWY_INLINE hn::Mask<Words> any_bit(Word x, Word mask) {
  return hn::Ne(hn::And(x, mask), hn::Zero(Words()));
}

#endif

#if HWY_TARGET == HWY_SCALAR

HWY_INLINE Word truncated_squares(const UnitConstants&, Word x) {
  return hn::Set(Words(), unit::truncated_square(hn::GetLane(x)));
}

#else

/// unit::truncated_square in every lane. It has all products among bits 9 to 16 of x, and those of bits i > 8 and j < 9 with i + j >= 18:
/// bit 18 - k contributes low >> k, for k from 2 to 8. That is the upper half of low times that bit, two bits to the right.
HWY_INLINE Word truncated_squares(const UnitConstants& t, Word x) {
  const Words d;
  const hn::Repartition<std::uint16_t, Words> halves;
  const auto in_both_halves = [](Word word) HWY_ATTR { return hn::Or(word, hn::ShiftLeft<16>(word)); };
  const Word bits = in_both_halves(hn::ShiftRight<2>(x)), high = hn::ShiftRight<9>(x);
  const auto low = hn::BitCast(halves, in_both_halves(hn::And(x, hn::Set(d, t.low_9_bits))));
  const auto products = [&](std::size_t i)
                            HWY_ATTR { return hn::MulHigh(low, hn::BitCast(halves, hn::And(bits, hn::Set(d, t.cross[i])))); };
  const auto cross = hn::Add(hn::Add(products(0), products(1)), hn::Add(products(2), products(3)));
  return hn::Add(pair_products(hn::BitCast(d, cross), hn::Set(d, t.ones)), hn::ShiftRight<1>(pair_products(high, high)));
}

#endif

/// Bits 0 to 8 of x in the upper half, x's truncated square, of 15 bits, in the lower half.
[[maybe_unused]] HWY_INLINE Word low_and_square(const UnitConstants& t, Word x) {
  const Words d;
  return hn::Or(hn::ShiftLeft<16>(hn::And(x, hn::Set(d, t.low_9_bits))), truncated_squares(t, x));
}

// ---- Functions by the unit's sum in 64 bits. These lanes are normal numbers whose results are normal; lane functions compute the others.

#if HWY_TARGET == HWY_SCALAR  // no vectors

constexpr Function ex2_f32 = each_lane<approximate_ex2>;
struct RcpLanes;
struct Lg2Lanes;
struct TanhLanes;
template <bool reciprocal>
struct RootLanes;
template <bool cosine>
struct SineLanes;
struct UpperRcpLanes;
struct UpperRsqLanes;
template <typename UnitLanes, auto lane_function>
constexpr Function by_unit = each_lane<lane_function>;
template <typename UnitLanes, auto lane_function>
constexpr Function by_unit_alone = each_lane<lane_function>;
template <auto lane_function>
constexpr Function divide_by_unit = each_lane<lane_function>;
template <typename UpperLanes, auto lane_function>
void upper_words(const std::uint64_t* a, std::uint64_t* result) {
  WARPMAT_EACH_LANE result[lane] = of_upper_word<lane_function>(a[lane]);
}

#else

using WideWords = hn::Repartition<std::int64_t, Words>;
using Wide = hn::Vec<WideWords>;

/// The odd words, in even places.
HWY_INLINE Word odd_words(Word x) {
  const hn::RepartitionToWide<Words> d;
  return hn::BitCast(Words(), hn::ShiftRight<32>(hn::BitCast(d, x)));
}

/// The signed products of the even words.
HWY_INLINE Wide even_products(Word a, Word b) {
  const SignedWords d;
  return hn::MulEven(hn::BitCast(d, a), hn::BitCast(d, b));
}

/// The unit's sums of all lanes, of the even and of the odd words.
struct UnitSums {
  Wide even, odd;
};

/// unit::interpolate in every lane.
template <const unit::Interpolation& f, std::size_t count>
HWY_INLINE UnitSums interpolate_lanes(const SegmentTable<count>& table, Word row, Word x) {
  const Words d;
  const WideWords dw;
  const Word c0 = look_up_words<count>(table, table.c0.data(), row), c1 = look_up_words<count>(table, table.c1.data(), row),
             c2 = look_up_words<count>(table, table.c2.data(), row);
  const Word one = hn::Set(d, 1U << f.c0_shift), linear = hn::ShiftLeft<f.c1_shift>(x);
  const Word square = hn::ShiftLeft<f.c2_shift>(truncated_squares(table, x));
  const Wide rounding = hn::Set(dw, f.rounding);
  const auto sum = [&](Word k0, Word k1, Word k2, Word by1, Word by2) HWY_ATTR {
    return hn::Add(hn::Add(even_products(k0, one), rounding), hn::Add(even_products(k1, by1), even_products(k2, by2)));
  };
  return {sum(c0, c1, c2, linear, square), sum(odd_words(c0), odd_words(c1), odd_words(c2), odd_words(linear), odd_words(square))};
}

/// The upper 32 of the 35 bits of exponent and fraction that the magnitude's double has down to f32's last place, modulo 2^32. The
/// magnitude is below 2^52, so it is exact. A zero has that of 2^-1023.
HWY_INLINE Wide leading_bits(Wide magnitude) {
  const WideWords d;
  const hn::RebindToFloat<WideWords> df;
  const auto exponent_52 = hn::Set(df, 0x1p52);
  const auto number = hn::Sub(hn::BitCast(df, hn::Or(magnitude, hn::BitCast(d, exponent_52))), exponent_52);
  return hn::ShiftRight<29>(hn::BitCast(d, number));
}

/// unit::normalise of positive sums whose results are normal, in units of 2^unit_exponent.
HWY_INLINE Word normalise_lanes(UnitSums sums, int unit_exponent) {
  const Words d;
  const WideWords dw;
  const Wide even = hn::And(leading_bits(sums.even), hn::Set(dw, 0xffffffff)), odd = hn::ShiftLeft<32>(leading_bits(sums.odd));
  const std::uint32_t exponent = static_cast<std::uint32_t>(unit_exponent + unit::bias - 1023) << unit::fraction_bits;
  return hn::Add(hn::BitCast(d, hn::Or(even, odd)), hn::Set(d, exponent));
}

/// Sums, in units of 2^9; what is below is in bits 0 to 8 of `lower`.
struct PairSums {
  Word upper, lower;
};

/// unit::interpolate in every lane. c1 · x is added in two parts, the upper one and c0 in units of 2^9: 32 bits suffice.
template <const PairFunction& g>
HWY_INLINE PairSums add_pairs(const PairTable& t, Word row, Word x) {
  const Words d;
  const SignedWords ds;
  const Word c0 = look_up_words<g.rows>(t, t.c0.data(), row), c1_c2 = look_up_words<g.rows>(t, t.c1_c2.data(), row);
  const Word lower = hn::Add(pair_products(c1_c2, low_and_square(t, x)), hn::Set(d, t.rounding));
  const Word carried = hn::BitCast(d, hn::ShiftRight<9>(hn::BitCast(ds, lower)));
  const Word upper = hn::Add(hn::Add(c0, pair_products(c1_c2, hn::ShiftLeft<16>(hn::ShiftRight<9>(x)))), carried);
  if constexpr (g.c1_offset == 0) {
    return {upper, lower};
  } else {
    constexpr int offset_shift = std::countr_zero(static_cast<std::uint32_t>(g.c1_offset)) - 9;  // c1_offset · x has no bits below 2^9
    const Word of_offset = hn::ShiftLeft<offset_shift>(x);
    return {g.c1_offset < 0 ? hn::Sub(upper, of_offset) : hn::Add(upper, of_offset), lower};
  }
}

/// unit::interpolate and unit::normalise of sums whose leading bit is known, whose results are normal, with the exponent 1. A sum of
/// 2^(leading + 1) gives the next exponent.
template <const PairFunction& g>
HWY_INLINE Word leading_codes(const PairTable& t, Word row, Word x) {
  return hn::ShiftRight<g.leading - 9 - unit::fraction_bits>(add_pairs<g>(t, row, x).upper);
}

/// unit::normalise of sums from 0 to 2^37, whose unit is 2^-37. No bits are added that a conversion or sum toward zero would carry.
HWY_INLINE Word normalise_pairs(PairSums sums) {
  const Words d;
  const SignedWords ds;
  const FloatWords df;
  const auto upper = hn::BitCast(ds, sums.upper), lower = hn::BitCast(ds, hn::And(sums.lower, hn::Set(d, 511)));
#if HWY_TARGET <= HWY_AVX3
  constexpr int toward_zero = _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC;
  const Floats from_upper = hn::Mul(Floats{_mm512_cvt_roundepi32_ps(upper.raw, toward_zero)}, hn::Set(df, 0x1p-28F));
  const Floats below = hn::ConvertTo(df, lower), unit = hn::Set(df, 0x1p-37F);
  return hn::BitCast(d, Floats{_mm512_fmadd_round_ps(below.raw, unit.raw, from_upper.raw, toward_zero)});
#else
  const auto is_small = hn::Lt(upper, hn::Set(ds, 1 << 21));  // of more, the lower 7 bits are behind the last place
  const auto number =
      hn::IfThenElse(is_small, hn::Or(hn::ShiftLeft<9>(upper), lower), hn::Or(hn::ShiftLeft<2>(upper), hn::ShiftRight<7>(lower)));
  const Floats nearest = hn::ConvertTo(df, number);
  const auto too_large = hn::VecFromMask(ds, hn::Gt(truncate(nearest), number));
  const Floats toward_zero = hn::BitCast(df, hn::Add(hn::BitCast(ds, nearest), too_large));
  const Floats unit = hn::IfThenElse(hn::RebindMask(df, is_small), hn::Set(df, 0x1p-37F), hn::Set(df, 0x1p-30F));
  return hn::BitCast(d, hn::Mul(toward_zero, unit));
#endif
}

using Declined = hn::Mask<SignedWords>;

/// The codes outside of [first, last].
HWY_INLINE Declined codes_outside(Word a, std::uint32_t first, std::uint32_t last) {
  const SignedWords ds;
  const auto from_smallest = hn::BitCast(ds, hn::Add(a, hn::Set(Words(), unit::sign_bit - first)));
  return hn::Gt(from_smallest, hn::Set(ds, static_cast<std::int32_t>(unit::sign_bit + (last - first))));
}

/// Those that are no positive normal numbers.
HWY_INLINE Declined not_positive_normal(Word a) {
  return codes_outside(a, FloatBits<float>::smallest_normal, unit::infinity - 1);
}

HWY_INLINE Word fraction_of(Word a) {
  return hn::And(a, hn::Set(Words(), (1U << unit::fraction_bits) - 1));
}

/// The segment_bits lower bits of a fraction.
HWY_INLINE Word x_of(const UnitConstants& t, Word fraction) {
  return hn::And(fraction, hn::Set(Words(), t.low_17_bits));
}

/// unit::ex2 in every lane. Operands beyond the range become 128 and -127; the codes of their powers are those of infinity and zero.
HWY_INLINE Floats ex2_lanes(const PairTable& t, Floats operand) {
  const FloatWords df;
  const SignedWords ds;
  const Words d;
  const Floats clamped = hn::IfThenElse(hn::Lt(operand, hn::Set(df, -126.0F)), hn::Set(df, -127.0F), hn::Min(operand, hn::Set(df, 128.0F)));
  const auto fixed = truncate(hn::Mul(clamped, hn::Set(df, 0x1p23F)));
  const auto has_fraction = hn::RebindMask(ds, any_bit(hn::BitCast(d, fixed), hn::Set(d, t.fraction_bits)));
  const auto complemented = hn::Add(fixed, hn::IfThenElseZero(has_fraction, hn::ShiftRight<31>(fixed)));  // if negative
  const Word reduced = hn::BitCast(d, complemented);
  const Word significand = leading_codes<ex2_pairs>(t, hn::ShiftRight<unit::segment_bits>(reduced), x_of(t, reduced));
  const Word number = hn::Add(significand, hn::Add(hn::And(reduced, hn::Set(d, t.kept_bits)), hn::Set(d, t.exponent)));
  return hn::IfThenElse(hn::IsNaN(operand), hn::BitCast(df, hn::Set(d, unit::nan)), hn::BitCast(df, number));
}

void ex2_ftz_f32(const float* a, float* result) {
  const FloatWords df;
  const PairTable& t = pair_table<ex2_pairs>();
  for (std::size_t i = 0; i < 32; i += hn::Lanes(df)) hn::StoreU(ex2_lanes(t, hn::LoadU(df, a + i)), df, result + i);
}

/// approximate_ex2 in every lane.
void ex2_f32(void* const* results, const void* const* sources, const Modifiers& modifiers) {
  const auto* a = static_cast<const float*>(sources[0]);
  auto* result = static_cast<float*>(results[0]);
  if (modifiers.ftz) return ex2_ftz_f32(a, result);
  const FloatWords df;
  const PairTable& t = pair_table<ex2_pairs>();
  for (std::size_t i = 0; i < 32; i += hn::Lanes(df)) {
    const Floats x = hn::LoadU(df, a + i);
    const auto is_small = hn::Lt(x, hn::Set(df, -126.0F));
    const Floats y = ex2_lanes(t, hn::IfThenElse(is_small, hn::Mul(x, hn::Set(df, 0.5F)), x));
    hn::StoreU(hn::IfThenElse(is_small, hn::Mul(y, y), y), df, result + i);
  }
}

/// unit::rcp. The reciprocals of numbers from 2^125 on may be subnormal.
struct RcpLanes {
  static HWY_INLINE Declined declines(Word a) {
    constexpr std::uint32_t two_to_125 = 0x7e000000;
    return codes_outside(hn::And(a, hn::Set(Words(), ~unit::sign_bit)), FloatBits<float>::smallest_normal, two_to_125 - 1);
  }

  static HWY_INLINE Word of(Word a) {
    const Words d;
    const PairTable& t = pair_table<rcp_pairs>();
    const Word x = hn::ShiftLeft<1>(hn::And(a, hn::Set(d, t.low_16_bits)));
    const Word exponent = hn::Sub(hn::Set(d, t.exponent), hn::And(a, hn::Set(d, t.kept_bits)));  // and the sign
    return hn::Add(leading_codes<rcp_pairs>(t, hn::ShiftRight<16>(a), x), exponent);
  }
};

/// unit::rsq, or unit::sqrt. An exponent's half, rounded down, is that of the stored one plus 1.
template <bool reciprocal>
struct RootLanes {
  static HWY_INLINE Declined declines(Word a) { return not_positive_normal(a); }

  static HWY_INLINE Word of(Word a) {
    const Words d;
    const Word row = hn::ShiftRight<unit::segment_bits>(a);
    const auto halved = [&](const PairTable& t) HWY_ATTR {
      return hn::And(hn::ShiftRight<1>(hn::Add(a, hn::Set(d, t.exponent_step))), hn::Set(d, t.kept_bits));
    };
    if constexpr (reciprocal) {
      const PairTable& t = pair_table<rsq_pairs>();
      const Word code = hn::Add(leading_codes<rsq_pairs>(t, row, x_of(t, a)), hn::Sub(hn::Set(d, t.exponent), halved(t)));
      // The sum of an even power of two is below the exact result, the next number.
      const auto is_even_power = hn::Eq(hn::And(a, hn::Set(d, t.low_24_bits)), hn::Set(d, t.exponent_step));
      return hn::IfThenElse(is_even_power, hn::Add(code, hn::Set(d, 1)), code);
    } else {
      const PairTable& t = pair_table<sqrt_pairs>();
      return hn::Add(leading_codes<sqrt_pairs>(t, row, x_of(t, a)), hn::Add(hn::Set(d, t.exponent), halved(t)));
    }
  }
};

/// unit::lg2. One, whose logarithm is exact, is declined too.
struct Lg2Lanes {
  static HWY_INLINE Declined declines(Word a) {
    return hn::Or(not_positive_normal(a), hn::RebindMask(SignedWords(), hn::Eq(a, hn::Set(Words(), unit::one))));
  }

  static HWY_INLINE Word of(Word a) {
    constexpr int dropped_bits = 4;
    const Words d;
    const WideWords dw;
    const auto& table = segment_table<64, unit::lg2_segments>();
    const Word exponent = hn::Sub(hn::ShiftRight<unit::fraction_bits>(a), hn::Set(d, unit::bias));
    UnitSums sums = interpolate_lanes<unit::lg2_interpolation>(table, hn::ShiftRight<unit::segment_bits>(a), x_of(table, a));
    const auto add_exponent = [&](Wide sum, Word of_even) HWY_ATTR {
      const Wide whole = hn::ShiftLeft<-unit::sum_unit>(even_products(of_even, hn::Set(d, 1)));
      return hn::ShiftRight<dropped_bits>(hn::Add(sum, whole));
    };
    sums = {add_exponent(sums.even, exponent), add_exponent(sums.odd, odd_words(exponent))};
    const Wide even_sign = hn::BroadcastSignBit(sums.even), odd_sign = hn::BroadcastSignBit(sums.odd);
    sums = {hn::Xor(sums.even, even_sign), hn::Xor(sums.odd, odd_sign)};
    const Word sign = hn::BitCast(
        d, hn::Or(hn::And(even_sign, hn::Set(dw, unit::sign_bit)), hn::ShiftLeft<32>(hn::And(odd_sign, hn::Set(dw, unit::sign_bit)))));
    return hn::Or(sign, normalise_lanes(sums, unit::sum_unit + dropped_bits));
  }
};

/// turns() of magnitudes: products with a factor below 1, rounded toward zero.
HWY_INLINE Floats turns_of(Floats a) {
  const FloatWords df;
#if HWY_TARGET <= HWY_AVX3
  return Floats{_mm512_mul_round_ps(a.raw, hn::Set(df, turns_per_radian).raw, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC)};
#elif HWY_TARGET == HWY_SSE4  // no fused operations
  const hn::Half<FloatWords> half;
  const hn::RepartitionToWide<FloatWords> dd;
  const auto kept_bits = hn::BitCast(dd, hn::Set(WideWords(), -(std::int64_t{1} << 29)));  // f32's
  const auto factor = hn::Set(dd, static_cast<double>(turns_per_radian));
  const auto product = [&](hn::Vec<decltype(half)> part)
                           HWY_ATTR { return hn::DemoteTo(half, hn::And(hn::Mul(hn::PromoteTo(dd, part), factor), kept_bits)); };
  return hn::Combine(df, product(hn::UpperHalf(half, a)), product(hn::LowerHalf(half, a)));
#else
  const SignedWords ds;
  const Floats factor = hn::Set(df, turns_per_radian), nearest = hn::Mul(a, factor), rest = hn::MulSub(a, factor, nearest);
  const auto too_large = hn::VecFromMask(ds, hn::RebindMask(ds, hn::Lt(rest, hn::Zero(df))));
  return hn::BitCast(df, hn::Add(hn::BitCast(ds, nearest), too_large));
#endif
}

/// approximate_sin, or approximate_cos. Whole turns do not count, so that the phase is below 2^25.
template <bool cosine>
struct SineLanes {
  static HWY_INLINE Word of(Word a) {
    const Words d;
    const SignedWords ds;
    const FloatWords df;
    const Floats turns = turns_of(hn::Abs(hn::BitCast(df, a)));
    const auto part = hn::Mul(hn::Sub(turns, hn::Trunc(turns)), hn::Set(df, 1U << unit::phase_bits));
    Word phase = hn::BitCast(d, truncate(part));
    if constexpr (cosine) phase = hn::Add(phase, hn::Set(d, 1U << unit::fraction_bits));
    const auto odd_quadrant = hn::BroadcastSignBit(hn::BitCast(ds, hn::ShiftLeft<31 - unit::fraction_bits>(phase)));
    const Word fraction = fraction_of(hn::Xor(phase, hn::BitCast(d, odd_quadrant)));
    const PairTable& t = pair_table<sin_pairs>();
    const Word magnitude = normalise_pairs(add_pairs<sin_pairs>(t, hn::ShiftRight<unit::segment_bits>(fraction), x_of(t, fraction)));
    Word sign = hn::ShiftLeft<30 - unit::fraction_bits>(phase);  // of the second half of a turn
    if constexpr (!cosine) sign = hn::Xor(sign, a);
    const Word code = hn::Or(magnitude, hn::And(sign, hn::Set(d, unit::sign_bit)));
    const Word infinity = hn::Set(d, unit::infinity);
    return hn::IfThenElse(hn::Eq(hn::And(a, infinity), infinity), hn::Set(d, unit::nan), code);
  }
};

/// unit::tanh.
struct TanhLanes {
  static HWY_INLINE Word of(Word a) {
    const Words d;
    const SignedWords ds;
    const TanhTable& table = tanh_table();
    const Word sign = hn::And(a, hn::Set(d, unit::sign_bit)), magnitude = hn::Xor(a, sign);
    const auto binade =
        hn::Sub(hn::BitCast(ds, hn::ShiftRight<unit::fraction_bits>(magnitude)), hn::Set(ds, unit::bias + unit::first_tanh_exponent));
    const Word words = look_up_words<32>(table, table.binades.data(), hn::BitCast(d, binade));
    const Word kept = hn::Shr(fraction_of(a), hn::And(words, hn::Set(d, 255)));
    const Word row = hn::Add(hn::ShiftRight<8>(words), hn::ShiftRight<unit::segment_bits>(kept));
    const UnitSums sums = interpolate_lanes<unit::tanh_interpolation>(table, row, x_of(table, kept));
    Word code = hn::Or(normalise_lanes(sums, unit::sum_unit), sign);
    const auto in_lanes = [](hn::Mask<SignedWords> mask) HWY_ATTR { return hn::RebindMask(Words(), mask); };
    code = hn::IfThenElse(in_lanes(hn::Gt(binade, hn::Set(ds, unit::tanh_binade_count - 1))), hn::Or(sign, hn::Set(d, unit::one)), code);
    code = hn::IfThenElse(in_lanes(hn::Lt(binade, hn::Zero(ds))), a, code);
    return hn::IfThenElse(hn::Gt(magnitude, hn::Set(d, unit::infinity)), hn::Set(d, unit::nan), code);
  }
};

/// An instruction that is `UnitLanes::of` for all operands.
template <typename UnitLanes>
void all_by_unit(void* const* results, const void* const* sources, const Modifiers&) {
  const Words d;
  const auto* const a = static_cast<const std::uint32_t*>(sources[0]);
  auto* const result = static_cast<std::uint32_t*>(results[0]);
  for (std::size_t i = 0; i < 32; i += hn::Lanes(d)) hn::StoreU(UnitLanes::of(hn::LoadU(d, a + i)), d, result + i);
}

template <typename UnitLanes, auto>
constexpr Function by_unit_alone = all_by_unit<UnitLanes>;

/// Of an f64's upper word: the f32 whose fraction has these 20 bits, of exponent 0 or of `odd`.
HWY_INLINE Word upper_operand(Word a, Word odd) {
  const Words d;
  const Word fraction = hn::ShiftLeft<3>(hn::And(a, hn::Set(d, 0xfffff)));
  return hn::Add(hn::Or(fraction, hn::Set(d, unit::one)), hn::ShiftLeft<unit::fraction_bits>(odd));
}

/// The upper word of the f64 with the exponent of `code`, an f32, plus `more`, its fraction without the last 3 bits and the sign of a.
/// Below 2^-1022 it is a zero.
HWY_INLINE Word upper_result(Word a, Word code, Word more) {
  const Words d;
  const SignedWords ds;
  const Word number = hn::Add(hn::ShiftRight<3>(code), hn::ShiftLeft<20>(more));
  const auto is_normal = hn::RebindMask(d, hn::Gt(hn::BitCast(ds, number), hn::Set(ds, (1 << 20) - 1)));
  return hn::Or(hn::IfThenElseZero(is_normal, number), hn::And(a, hn::Set(d, unit::sign_bit)));
}

/// The exponent as stored.
HWY_INLINE Word upper_exponent(Word a) {
  return hn::And(hn::ShiftRight<20>(a), hn::Set(Words(), 2047));
}

/// unit::rcp64h.
struct UpperRcpLanes {
  static HWY_INLINE Word of(Word a) {
    const Words d;
    const Word exponent = upper_exponent(a), sign = hn::And(a, hn::Set(d, unit::sign_bit)), infinity = hn::Set(d, unit::upper_infinity);
    const Word code = RcpLanes::of(upper_operand(a, hn::Zero(d)));
    const Word number = upper_result(a, code, hn::Sub(hn::Set(d, 2 * 1023 - unit::bias), exponent));
    const Word of_large = hn::IfThenElse(hn::Gt(hn::Xor(a, sign), infinity), hn::Set(d, unit::nan), sign);
    const Word result = hn::IfThenElse(hn::Eq(exponent, hn::Zero(d)), hn::Or(sign, infinity), number);
    return hn::IfThenElse(hn::Eq(exponent, hn::Set(d, 2047)), of_large, result);
  }
};

/// unit::rsq64h.
struct UpperRsqLanes {
  static HWY_INLINE Word of(Word a) {
    const Words d;
    const SignedWords ds;
    const Word stored = upper_exponent(a), infinity = hn::Set(d, unit::upper_infinity);
    const auto exponent = hn::Sub(hn::BitCast(ds, stored), hn::Set(ds, 1023));
    const Word odd = hn::And(hn::BitCast(d, exponent), hn::Set(d, 1)), half = hn::BitCast(d, hn::ShiftRight<1>(exponent));
    const Word code = RootLanes<true>::of(upper_operand(a, odd));
    const Word number = upper_result(hn::Zero(d), code, hn::Sub(hn::Set(d, 1023 - unit::bias), half));
    const Word of_large = hn::IfThenElse(hn::Eq(a, infinity), hn::Zero(d), hn::Set(d, unit::nan));  // or negative
    const Word result = hn::IfThenElse(hn::Lt(a, infinity), number, of_large);
    const Word sign = hn::And(a, hn::Set(d, unit::sign_bit));
    return hn::IfThenElse(hn::Eq(stored, hn::Zero(d)), hn::Or(sign, infinity), result);
  }
};

/// `UpperLanes::of` of the upper words of f64 numbers; the lower words of results are zero.
template <typename UpperLanes, auto>
HWY_INLINE void upper_words(const std::uint64_t* a, std::uint64_t* result) {
  const Words d;
  alignas(64) std::array<std::uint32_t, 32> words;
  WARPMAT_EACH_LANE words[static_cast<std::size_t>(lane)] = static_cast<std::uint32_t>(a[lane] >> 32);
  for (std::size_t i = 0; i < 32; i += hn::Lanes(d)) hn::Store(UpperLanes::of(hn::Load(d, words.data() + i)), d, words.data() + i);
  WARPMAT_EACH_LANE result[lane] = static_cast<std::uint64_t>(words[static_cast<std::size_t>(lane)]) << 32;
}

/// Results, and the lanes that a lane function must compute.
struct UnitResult {
  Word code;
  Declined declined;
};

/// Calls `lanes(first lane)` for all parts of the warp, and `lane_function(lane)` for the lanes that it declines.
template <typename LanesOf, typename LaneFunction>
HWY_INLINE void with_lane_function(void* result, LanesOf lanes, LaneFunction lane_function) {
  const Words d;
  alignas(64) std::array<std::uint32_t, 32> code;
  std::uint32_t declined = 0;
  for (std::size_t i = 0; i < 32; i += hn::Lanes(d)) {
    const UnitResult part = lanes(i);
    hn::Store(part.code, d, code.data() + i);
    declined |= bits_of(SignedWords(), part.declined, i);
  }
  for (; HWY_UNLIKELY(declined != 0); declined &= declined - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(declined));
    code[lane] = lane_function(lane);
  }
  auto* const to = static_cast<std::uint32_t*>(result);
  for (std::size_t i = 0; i < 32; i += hn::Lanes(d)) hn::StoreU(hn::Load(d, code.data() + i), d, to + i);
}

/// An instruction that is the unit's function for the operands that UnitLanes takes.
template <typename UnitLanes, std::uint32_t (*lane_function)(std::uint32_t, const Modifiers&)>
void by_unit(void* const* results, const void* const* sources, const Modifiers& modifiers) {
  const auto* const a = static_cast<const std::uint32_t*>(sources[0]);
  with_lane_function(
      results[0],
      [&](std::size_t i) HWY_ATTR {
        const Word operand = hn::LoadU(Words(), a + i);
        return UnitResult{UnitLanes::of(operand), UnitLanes::declines(operand)};
      },
      [&](std::size_t lane) { return lane_function(a[lane], modifiers); });
}

/// A division by a number that RcpLanes takes, so that the operands need no scaling. With .ftz, subnormal
/// dividends and products near the subnormal ones are declined.
template <std::uint32_t (*lane_function)(std::uint32_t, std::uint32_t, const Modifiers&)>
void divide_by_unit(void* const* results, const void* const* sources, const Modifiers& modifiers) {
  const Words d;
  const FloatWords df;
  const auto* const a = static_cast<const std::uint32_t*>(sources[0]);
  const auto* const b = static_cast<const std::uint32_t*>(sources[1]);
  const bool ftz = modifiers.ftz;
  with_lane_function(
      results[0],
      [&](std::size_t i) HWY_ATTR {
        const Word divisor = hn::LoadU(d, b + i);
        const Floats dividend = hn::BitCast(df, hn::LoadU(d, a + i));
        const Floats quotient = hn::Mul(dividend, hn::BitCast(df, RcpLanes::of(divisor)));
        Declined declined = RcpLanes::declines(divisor);
        if (ftz) {
          const auto small = hn::Or(hn::Lt(hn::Abs(quotient), hn::Set(df, 0x1p-125F)), hn::Lt(hn::Abs(dividend), hn::Set(df, 0x1p-126F)));
          declined = hn::Or(declined, hn::RebindMask(SignedWords(), hn::And(small, hn::Ne(dividend, hn::Zero(df)))));
        }
        const Floats code = hn::IfThenElse(hn::IsNaN(quotient), hn::BitCast(df, hn::Set(d, unit::nan)), quotient);
        return UnitResult{hn::BitCast(d, code), declined};
      },
      [&](std::size_t lane) { return lane_function(a[lane], b[lane], modifiers); });
}

#endif  // vectors

template <typename UpperLanes, auto lane_function>
void by_upper_words(void* const* results, const void* const* sources, const Modifiers&) {
  upper_words<UpperLanes, lane_function>(static_cast<const std::uint64_t*>(sources[0]), static_cast<std::uint64_t*>(results[0]));
}

/// approximate_rsqrt_f64 in every lane.
void rsqrt_f64(void* const* results, const void* const* sources, const Modifiers&) {
  alignas(64) std::array<std::uint64_t, 32> scaled, root;
  const void* const a = sources[0];
  WARPMAT_EACH_LANE scaled[static_cast<std::size_t>(lane)] = std::bit_cast<std::uint64_t>(scaled_for_rsqrt(load<double>(a, lane)));
  upper_words<UpperRsqLanes, multi_function::rsq64h>(scaled.data(), root.data());
  WARPMAT_EACH_LANE {
    const auto i = static_cast<std::size_t>(lane);
    const double refined = refined_rsqrt(std::bit_cast<double>(scaled[i]), std::bit_cast<double>(root[i]));
    store(results[0], lane, rsqrt_of(load<double>(a, lane), refined));
  }
}

/// `f` of one or both halves of every lane.
template <HalfFunction f, int halves>
void look_up_halves(void* const* results, const void* const* sources, const Modifiers&) {
  const std::uint16_t* const table = all_results<f>();
  const auto* const a = static_cast<const std::uint32_t*>(sources[0]);
  auto* const result = static_cast<std::uint32_t*>(results[0]);
  for (int lane = 0; lane < 32; ++lane) {
    const std::uint32_t low = table[a[lane] & 0xffff], high = halves == 2 ? table[a[lane] >> 16] : 0;
    result[lane] = high << 16 | low;
  }
}

constexpr Kernel approximate_table[] = {
    {"ex2.approx.f32", ex2_f32},
    {"lg2.approx.f32", by_unit<Lg2Lanes, approximate_lg2>},
    {"rcp.approx.f32", by_unit<RcpLanes, approximate_rcp>},
    {"rsqrt.approx.f32", by_unit<RootLanes<true>, approximate_rsqrt>},
    {"sqrt.approx.f32", by_unit<RootLanes<false>, approximate_sqrt>},
    {"sin.approx.f32", by_unit_alone<SineLanes<false>, approximate_sin>},
    {"cos.approx.f32", by_unit_alone<SineLanes<true>, approximate_cos>},
    {"tanh.approx.f32", by_unit_alone<TanhLanes, multi_function::tanh>},
    {"div.approx.f32", divide_by_unit<approximate_div>},
    {"div.full.f32", divide_by_unit<full_div>},
    {"ex2.approx.f16", look_up_halves<multi_function::ex2_f16, 1>},
    {"ex2.approx.f16x2", look_up_halves<multi_function::ex2_f16, 2>},
    {"ex2.approx.bf16", look_up_halves<multi_function::ex2_bf16, 1>},
    {"ex2.approx.bf16x2", look_up_halves<multi_function::ex2_bf16, 2>},
    {"tanh.approx.f16", look_up_halves<multi_function::tanh_f16, 1>},
    {"tanh.approx.f16x2", look_up_halves<multi_function::tanh_f16, 2>},
    {"tanh.approx.bf16", look_up_halves<multi_function::tanh_bf16, 1>},
    {"tanh.approx.bf16x2", look_up_halves<multi_function::tanh_bf16, 2>},
    {"rcp.approx.ftz.f64", by_upper_words<UpperRcpLanes, multi_function::rcp64h>},
    {"rsqrt.approx.ftz.f64", by_upper_words<UpperRsqLanes, multi_function::rsq64h>},
    {"rsqrt.approx.f64", rsqrt_f64},
};

std::span<const Kernel> approximate_kernels_here() {
  return approximate_table;
}

}  // namespace
}  // namespace warpmat::scalar::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace warpmat::scalar {

const TanhTable& tanh_table() {
  static constinit Persistent<TanhTable> table;
  return table.get([] { return TanhTable(); });
}

HWY_EXPORT(approximate_kernels_here);

std::span<const Kernel> approximate_kernels() {
  return WARPMAT_KERNEL(approximate_kernels_here)();
}

}  // namespace warpmat::scalar
#endif
