// Kernels of the approximate instructions, compiled once for each instruction set.

#include <warpmat/scalar/approximate.h>

#include <array>
#include <limits>

#include <warpmat/scalar/kernels.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "warpmat/scalar/approximate.cpp"
#include <hwy/foreach_target.h>

#include <warpmat/scalar/lanes-inl.h>

#ifndef WARPMAT_SCALAR_EX2_TABLE
#define WARPMAT_SCALAR_EX2_TABLE
namespace warpmat::scalar {

/// The rows of ex2 in 32-bit words, and constants of its kernel. They lie in memory because the compiler would otherwise build each
/// constant in a register with an instruction that competes with the look-ups.
struct alignas(64) Ex2Table {
  Ex2Table();

  std::array<std::uint32_t, 64> c0, c1_c2;   ///< c1_c2: c1, and c2 above it
  std::array<std::uint32_t, 9> cross_bit{};  ///< [k] = 2^(18 - k)
  std::uint32_t fraction = (1U << multi_function::fraction_bits) - 1;
  std::uint32_t bit_5 = 32, low_8_bits = 255, low_9_bits = 511, low_16_bits = 65535;
  std::uint32_t rounding = static_cast<std::uint32_t>(multi_function::ex2_interpolation.rounding >> 2);  ///< in units of 2^-38
  std::uint32_t bias = (multi_function::bias - 1) << multi_function::fraction_bits, nan = multi_function::nan;
};

/// Made at the first call.
const Ex2Table& ex2_table();

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

// VPERMI2D looks up 32 words, and VCVTTPS2DQ needs no correction for operands in range: Highway 1.0.3 has no names for these.
#if HWY_TARGET <= HWY_AVX3

/// Elements `row` modulo 64 of 64 words.
HWY_INLINE Word look_up(const Ex2Table& t, const std::array<std::uint32_t, 64>& words, Word row) {
  const Words d;
  const auto half = [&](std::size_t first) HWY_ATTR {
    const Word lower = hn::Load(d, words.data() + first), upper = hn::Load(d, words.data() + first + 16);
    return Word{_mm512_permutex2var_epi32(lower.raw, row.raw, upper.raw)};
  };
  return hn::IfThenElse(hn::TestBit(row, hn::Set(d, t.bit_5)), half(32), half(0));
}

/// Toward zero; the magnitude is below 2^31.
HWY_INLINE hn::Vec<SignedWords> truncate(Floats x) {
  return hn::Vec<SignedWords>{_mm512_cvttps_epi32(x.raw)};
}

#else

HWY_INLINE Word look_up(const Ex2Table&, const std::array<std::uint32_t, 64>& words, Word row) {
  const Word index = hn::And(row, hn::Set(Words(), 63));
  return hn::GatherIndex(Words(), words.data(), hn::BitCast(SignedWords(), index));
}

HWY_INLINE hn::Vec<SignedWords> truncate(Floats x) {
  return hn::ConvertTo(SignedWords(), x);
}

#endif

/// The part of truncated_square that bit 18 - k of x brings in: that bit times the bits k to 8.
template <int k>
HWY_INLINE Word cross_products(const Ex2Table& t, Word x, Word low) {
  return hn::IfThenElseZero(hn::TestBit(x, hn::Set(Words(), t.cross_bit[k])), hn::ShiftRight<k>(low));
}

/// x in two parts.
struct Split {
  Word high, low;  ///< bits 9 to 16, and 0 to 8
};

/// unit::truncated_square: all products among bits 9 to 16 of x are there, and those of bits i > 8 and j < 9 with i + j >= 18.
HWY_INLINE Word truncated_squares(const Ex2Table& t, Word bits, Split x) {
  const Word left = hn::Add(hn::Add(cross_products<2>(t, bits, x.low), cross_products<3>(t, bits, x.low)),
                            hn::Add(cross_products<4>(t, bits, x.low), cross_products<5>(t, bits, x.low)));
  const Word right =
      hn::Add(hn::Add(cross_products<6>(t, bits, x.low), cross_products<7>(t, bits, x.low)), cross_products<8>(t, bits, x.low));
  return hn::Add(hn::ShiftRight<1>(hn::Mul(x.high, x.high)), hn::Add(left, right));
}

/// The 24 leading bits of the interpolated 2^f, where f is the number made of bits 0 to 22 of `bits`. The sum in units of 2^-38 has 39
/// bits: c1 · x is added in two parts.
HWY_INLINE Word ex2_significands(const Ex2Table& t, Word bits) {
  const Words d;
  const Word row = hn::ShiftRight<unit::segment_bits>(bits);
  const Word c0 = look_up(t, t.c0, row), c1_c2 = look_up(t, t.c1_c2, row), c1 = hn::And(c1_c2, hn::Set(d, t.low_16_bits));
  const Split x{hn::And(hn::ShiftRight<9>(bits), hn::Set(d, t.low_8_bits)), hn::And(bits, hn::Set(d, t.low_9_bits))};
  const Word square = hn::Mul(hn::ShiftRight<16>(c1_c2), truncated_squares(t, bits, x));
  const Word low = hn::Add(hn::Add(hn::Mul(c1, x.low), square), hn::Set(d, t.rounding));
  return hn::ShiftRight<6>(hn::Add(hn::Add(hn::ShiftLeft<4>(c0), hn::Mul(c1, x.high)), hn::ShiftRight<9>(low)));
}

/// unit::ex2 in every lane. Operands beyond the range become 128 and -127, whose powers have the codes of infinity and zero.
HWY_INLINE Floats ex2_lanes(const Ex2Table& t, Floats operand) {
  const FloatWords df;
  const SignedWords ds;
  const Words d;
  const Word fraction_mask = hn::Set(d, t.fraction);
  const Floats clamped = hn::IfThenElse(hn::Lt(operand, hn::Set(df, -126.0F)), hn::Set(df, -127.0F), hn::Min(operand, hn::Set(df, 128.0F)));
  const auto fixed = truncate(hn::Mul(clamped, hn::Set(df, 0x1p23F)));
  const auto has_fraction = hn::RebindMask(ds, hn::TestBit(hn::BitCast(d, fixed), fraction_mask));
  const auto complemented = hn::Add(fixed, hn::IfThenElseZero(has_fraction, hn::ShiftRight<31>(fixed)));  // where negative
  const Word reduced = hn::BitCast(d, complemented);
  const Word exponent = hn::Add(hn::AndNot(fraction_mask, reduced), hn::Set(d, t.bias));
  const Word number = hn::Add(ex2_significands(t, reduced), exponent);
  return hn::IfThenElse(hn::IsNaN(operand), hn::BitCast(df, hn::Set(d, t.nan)), hn::BitCast(df, number));
}

void ex2_ftz_f32(const float* a, float* result) {
  const FloatWords df;
  const Ex2Table& t = ex2_table();
  for (std::size_t i = 0; i < 32; i += hn::Lanes(df)) hn::Store(ex2_lanes(t, hn::Load(df, a + i)), df, result + i);
}

/// approximate_ex2 in every lane.
void ex2_f32(void* const* results, const void* const* sources, const Modifiers& modifiers) {
  const auto* a = static_cast<const float*>(sources[0]);
  auto* result = static_cast<float*>(results[0]);
  if (modifiers.ftz) return ex2_ftz_f32(a, result);
  const FloatWords df;
  const Ex2Table& t = ex2_table();
  for (std::size_t i = 0; i < 32; i += hn::Lanes(df)) {
    const Floats x = hn::Load(df, a + i);
    const auto is_small = hn::Lt(x, hn::Set(df, -126.0F));
    const Floats y = ex2_lanes(t, hn::IfThenElse(is_small, hn::Mul(x, hn::Set(df, 0.5F)), x));
    hn::Store(hn::IfThenElse(is_small, hn::Mul(y, y), y), df, result + i);
  }
}

constexpr Kernel kernels[] = {
    {"ex2.approx.f32", ex2_f32},
    {"lg2.approx.f32", each_lane<approximate_lg2>},
    {"rcp.approx.f32", each_lane<approximate_rcp>},
    {"rsqrt.approx.f32", each_lane<approximate_rsqrt>},
    {"sqrt.approx.f32", each_lane<approximate_sqrt>},
    {"sin.approx.f32", each_lane<approximate_sin>},
    {"cos.approx.f32", each_lane<approximate_cos>},
    {"tanh.approx.f32", each_lane<multi_function::tanh>},
    {"div.approx.f32", each_lane<approximate_div>},
    {"div.full.f32", each_lane<full_div>},
    {"ex2.approx.f16", each_lane<multi_function::ex2_f16>},
    {"ex2.approx.f16x2", each_lane<in_both_halves<multi_function::ex2_f16>>},
    {"ex2.approx.bf16", each_lane<multi_function::ex2_bf16>},
    {"ex2.approx.bf16x2", each_lane<in_both_halves<multi_function::ex2_bf16>>},
    {"tanh.approx.f16", each_lane<multi_function::tanh_f16>},
    {"tanh.approx.f16x2", each_lane<in_both_halves<multi_function::tanh_f16>>},
    {"tanh.approx.bf16", each_lane<multi_function::tanh_bf16>},
    {"tanh.approx.bf16x2", each_lane<in_both_halves<multi_function::tanh_bf16>>},
    {"rcp.approx.ftz.f64", each_lane<of_upper_word<multi_function::rcp64h>>},
    {"rsqrt.approx.ftz.f64", each_lane<of_upper_word<multi_function::rsq64h>>},
    {"rsqrt.approx.f64", each_lane<approximate_rsqrt_f64>},
};

std::span<const Kernel> approximate_kernels_here() {
  return kernels;
}

}  // namespace
}  // namespace warpmat::scalar::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace warpmat::scalar {

Ex2Table::Ex2Table() {
  for (std::size_t i = 0; i < 64; ++i) {
    const multi_function::Segment& s = multi_function::ex2_segments[i];
    c0[i] = static_cast<std::uint32_t>(s.c0);
    c1_c2[i] = static_cast<std::uint32_t>(s.c2) << 16 | static_cast<std::uint32_t>(s.c1);
  }
  for (std::size_t k = 0; k < cross_bit.size(); ++k) cross_bit[k] = 1U << (18 - k);
}

const Ex2Table& ex2_table() {
  static const Ex2Table table;
  return table;
}

HWY_EXPORT(approximate_kernels_here);

std::span<const Kernel> approximate_kernels() {
  return HWY_DYNAMIC_DISPATCH(approximate_kernels_here)();
}

}  // namespace warpmat::scalar
#endif
