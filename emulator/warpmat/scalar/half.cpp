// Kernels of f16 and bf16 arithmetic, one and two in a register, compiled once for each instruction set.

#include <warpmat/scalar/half.h>
#include <warpmat/scalar/kernels.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "warpmat/scalar/half.cpp"
#include <hwy/foreach_target.h>

#include <warpmat/scalar/lanes-inl.h>

HWY_BEFORE_NAMESPACE();
namespace warpmat::scalar::HWY_NAMESPACE {
namespace {

using std::uint16_t, std::uint32_t;

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2  // instructions convert f16

namespace hn = hwy::HWY_NAMESPACE;
using FloatWords = hn::ScalableTag<float>;
using Floats = hn::Vec<FloatWords>;
using Words = hn::RebindToUnsigned<FloatWords>;
using Halves = hn::Rebind<uint16_t, FloatWords>;
using Codes = hn::Vec<Halves>;

/// A vector of codes from element `i` on: of words' lower halves, or of halves if a word has two elements.
template <int halves>
HWY_INLINE Codes load_codes(const void* source, std::size_t i) {
  if constexpr (halves == 2) return hn::LoadU(Halves(), static_cast<const uint16_t*>(source) + i);
  return hn::TruncateTo(Halves(), hn::LoadU(Words(), static_cast<const uint32_t*>(source) + i));
}

template <int halves>
HWY_INLINE void store_codes(Codes codes, void* result, std::size_t i) {
  if constexpr (halves == 2)
    hn::StoreU(codes, Halves(), static_cast<uint16_t*>(result) + i);
  else
    hn::StoreU(hn::PromoteTo(Words(), codes), Words(), static_cast<uint32_t*>(result) + i);
}

HWY_INLINE Floats widen_codes(F16, Codes codes) {
  return hn::PromoteTo(FloatWords(), hn::BitCast(hn::Rebind<hwy::float16_t, FloatWords>(), codes));
}
HWY_INLINE Floats widen_codes(Bf16, Codes codes) {
  return hn::BitCast(FloatWords(), hn::ShiftLeft<16>(hn::PromoteTo(Words(), codes)));
}

/// The f32 that becomes the canonical NaN; it has no bits to round.
template <typename H>
constexpr uint32_t unrounded_nan = std::is_same_v<H, F16> ? 0x7fffe000 : 0x7fff0000;

/// Rounds to nearest, ties to even. A NaN is unrounded_nan.
HWY_INLINE Codes narrow_floats(F16, Floats x) {
  return hn::BitCast(Halves(), hn::DemoteTo(hn::Rebind<hwy::float16_t, FloatWords>(), x));
}
HWY_INLINE Codes narrow_floats(Bf16, Floats x) {
  const Words d;
  const auto bits = hn::BitCast(d, x), odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(d, 1));
  return hn::TruncateTo(Halves(), hn::ShiftRight<16>(hn::Add(hn::Add(bits, hn::Set(d, 0x7fff)), odd)));
}

/// half_source() and half_result() in vectors. They change the f32, of which a half is a rounded one, and so are in the same order.
template <typename H, bool plain>
class HalfLanes {
 public:
  explicit HWY_INLINE HalfLanes(const HalfModifiers<H>& m)
      : flushed_below_(hn::Set(d, widen_code<H>(m.flushed_below))),
        flushed_result_below_(of_bits(m.flushed_result_below)),
        cleared_by_sign_(of_bits(m.cleared_by_sign != 0 ? ~0U : 0)),
        largest_(hn::Set(d, widen_code<H>(std::min(m.largest, uint32_t{H::infinity})))),
        nan_(of_bits(m.zero_above < half_nan ? 0 : unrounded_nan<H>)) {}

  HWY_INLINE Floats source(Codes codes) const {
    const Floats x = widen_codes(H{}, codes);
    return plain ? x : flush(x, flushed_below_);
  }

  HWY_INLINE Codes result(Floats exact) const {
    Floats x = exact;
    if constexpr (!plain) {
      x = flush(x, flushed_result_below_);
      const auto sign = hn::BitCast(d, hn::BroadcastSignBit(hn::BitCast(hn::RebindToSigned<FloatWords>(), x)));
      x = hn::Min(hn::AndNot(hn::And(sign, cleared_by_sign_), x), largest_);
    }
    return narrow_floats(H{}, hn::IfThenElse(hn::IsNaN(exact), nan_, x));
  }

 private:
  static constexpr FloatWords d{};

  static HWY_INLINE Floats of_bits(uint32_t bits) { return hn::BitCast(d, hn::Set(Words(), bits)); }
  static HWY_INLINE Floats flush(Floats x, Floats below) {
    return hn::IfThenElse(hn::Lt(hn::Abs(x), below), hn::And(x, hn::SignBit(d)), x);
  }

  Floats flushed_below_, flushed_result_below_, cleared_by_sign_, largest_, nan_;
};

/// f(the elements of sources i...) for all elements.
template <typename H, int halves, bool plain, std::size_t... i, typename F>
HWY_INLINE void in_vectors(void* result, const void* const* sources, const Modifiers& modifiers, std::index_sequence<i...>, F f) {
  const HalfLanes<H, plain> lanes{HalfModifiers<H>(modifiers)};
  for (std::size_t first = 0; first < 32 * halves; first += hn::Lanes(FloatWords()))
    store_codes<halves>(lanes.result(f(lanes.source(load_codes<halves>(sources[i], first))...)), result, first);
}

#endif

/// add, sub and mul in f32.
struct Sum {
  constexpr float operator()(float a, float b) const { return a + b; }
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
  HWY_INLINE Floats operator()(Floats a, Floats b) const {
    return hn::Add(a, b);
  }
#endif
};
struct Difference {
  constexpr float operator()(float a, float b) const { return a - b; }
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
  HWY_INLINE Floats operator()(Floats a, Floats b) const {
    return hn::Sub(a, b);
  }
#endif
};
struct Product {
  constexpr float operator()(float a, float b) const { return a * b; }
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
  HWY_INLINE Floats operator()(Floats a, Floats b) const {
    return hn::Mul(a, b);
  }
#endif
};

/// One result word: the lower half and, if there are two, the upper half. `f(shift)` returns the code of the half at that bit.
template <int halves, typename F>
HWY_INLINE uint32_t word_of(F f) {
  if constexpr (halves == 2) return f(0) | f(16) << 16;
  return f(0);
}

/// add, sub and mul. The compiler's vectors of bf16 are as fast as those by hand.
template <typename H, typename F, int halves, bool plain>
HWY_INLINE void binary(void* result, const void* const* sources, const Modifiers& modifiers) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
  if constexpr (std::is_same_v<H, F16>) return in_vectors<H, halves, plain>(result, sources, modifiers, std::make_index_sequence<2>(), F());
#endif
  const HalfModifiers<H> m(modifiers);
  const void *const first = sources[0], *const second = sources[1];
  WARPMAT_EACH_LANE {
    const auto a = load<uint32_t>(first, lane), b = load<uint32_t>(second, lane);
    store(result, lane, word_of<halves>([&](int shift) HWY_ATTR {
            const float x = half_source<H, plain>(a >> shift & 0xffff, m), y = half_source<H, plain>(b >> shift & 0xffff, m);
            return half_result<H, plain>(F()(x, y), m);
          }));
  }
}

template <typename H, typename F, int halves>
void half_arithmetic(void* const* results, const void* const* sources, const Modifiers& m) {
  if (is_plain(m))
    binary<H, F, halves, true>(results[0], sources, m);
  else
    binary<H, F, halves, false>(results[0], sources, m);
}

/// neg and abs.
template <uint32_t (*f)(uint32_t, bool), int halves>
void unary(void* const* results, const void* const* sources, const Modifiers& modifiers) {
  const bool ftz = modifiers.ftz;
  WARPMAT_EACH_LANE {
    const auto a = load<uint32_t>(sources[0], lane);
    store(results[0], lane, word_of<halves>([&](int shift) HWY_ATTR { return f(a >> shift & 0xffff, ftz); }));
  }
}

/// min and max. One loop for each half: of both in one the compiler makes no vectors.
template <uint32_t (*f)(uint32_t, uint32_t, const Modifiers&), int halves>
void pick(void* const* results, const void* const* sources, const Modifiers& modifiers) {
  const Modifiers m = modifiers;
  const void *const first = sources[0], *const second = sources[1];
  const auto pick_at = [&](int lane, int shift) HWY_ATTR {
    return f(load<uint32_t>(first, lane) >> shift & 0xffff, load<uint32_t>(second, lane) >> shift & 0xffff, m);
  };
  alignas(64) uint32_t upper[32] = {};
  if constexpr (halves == 2) WARPMAT_EACH_LANE upper[lane] = pick_at(lane, 16) << 16;
  WARPMAT_EACH_LANE store(results[0], lane, upper[lane] | pick_at(lane, 0));
}

/// The NaN that stands for an element outside a tensor; fma.oob compares f16 and bf16 sources with it.
constexpr uint16_t out_of_bounds_nan = 0x7ff7;  // of either sign, in f16 and in bf16 [H200]

/// Rounds an exact sum to odd: if the sum is not representable, returns the neighbour whose last bit is set. Rounding that to any shorter
/// format is correct. `rest` is the exact sum minus `nearest`; only its sign counts. It is NaN if the sum is infinite or NaN.
template <typename T, typename Rest>
HWY_INLINE T to_odd(T nearest, Rest rest) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
  const auto bits = std::bit_cast<Bits>(nearest);
  const Bits toward_rest = (bits < 0) == (rest < 0) ? 1 : -1;
  return std::bit_cast<T>(bits + ((rest < 0 || rest > 0) && (bits & 1) == 0 ? toward_rest : 0));
}

/// x y + z rounded to odd. T holds the product and the rounding error of the sum exactly (Knuth's TwoSum).
template <typename T>
HWY_INLINE T multiply_add_to_odd(T x, T y, T z) {
  const T product = x * y, sum = product + z, of_z = sum - product;
  return to_odd(sum, (product - (sum - of_z)) + (z - of_z));
}

/// Products of f16 have 22 bits, none below 2^-48, so float is wide enough. Those of bf16 go down to 2^-266.
HWY_INLINE float multiply_add(F16, float x, float y, float z) {
  return multiply_add_to_odd(x, y, z);
}
HWY_INLINE float multiply_add(Bf16, float x, float y, float z) {
  const double sum = multiply_add_to_odd<double>(x, y, z);
  const auto nearest = static_cast<float>(sum);
  return to_odd(nearest, sum - nearest);
}

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2

#if HWY_TARGET <= HWY_AVX3

constexpr bool fused_in_f32_range = true;

/// x y + z rounded to odd: of the neighbours below and above the odd one, or both if they are one number.
HWY_INLINE Floats fused_to_odd(Floats x, Floats y, Floats z) {
  const __m512 below = _mm512_fmadd_round_ps(x.raw, y.raw, z.raw, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
  const __m512 above = _mm512_fmadd_round_ps(x.raw, y.raw, z.raw, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);
  const __mmask16 below_is_odd = _mm512_test_epi32_mask(_mm512_castps_si512(below), _mm512_set1_epi32(1));
  return Floats{_mm512_mask_blend_ps(below_is_odd, above, below)};
}

#else

constexpr bool fused_in_f32_range = false;

/// The same by multiply_add_to_odd<float>, for products that are exact in f32.
HWY_INLINE Floats fused_to_odd(Floats x, Floats y, Floats z) {
  const FloatWords d;
  const hn::RebindToSigned<FloatWords> ds;
  const auto product = hn::Mul(x, y), sum = hn::Add(product, z), of_z = hn::Sub(sum, product);
  const auto rest = hn::Add(hn::Sub(product, hn::Sub(sum, of_z)), hn::Sub(z, of_z));
  const auto bits = hn::BitCast(ds, sum), one = hn::Set(ds, 1);
  const auto toward_rest = hn::Or(hn::BroadcastSignBit(hn::Xor(bits, hn::BitCast(ds, rest))), one);
  const auto inexact = hn::RebindMask(ds, hn::Gt(hn::Abs(rest), hn::Zero(d)));
  const auto is_even = hn::Eq(hn::And(bits, one), hn::Zero(ds));
  return hn::BitCast(d, hn::Add(bits, hn::IfThenElseZero(hn::And(inexact, is_even), toward_rest)));
}

#endif
#endif

/// fma of `halves` values a lane. One loop for each step: the compiler vectorises only short loops.
template <typename H, int halves, bool plain>
HWY_INLINE void multiply_add(void* result, const void* const* sources, const Modifiers& modifiers) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
  if constexpr (fused_in_f32_range || std::is_same_v<H, F16>)
    return in_vectors<H, halves, plain>(result, sources, modifiers, std::make_index_sequence<3>(), fused_to_odd);
#endif
  constexpr std::size_t count = 32 * halves;
  const HalfModifiers<H> m(modifiers);
  alignas(64) float s[3][count], sums[count];
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t half = 0; half < halves; ++half) {
      float* const values = s[i] + 32 * half;
      const void* const source = sources[i];
      WARPMAT_EACH_LANE values[lane] = half_source<H, plain>(load<uint32_t>(source, lane) >> (16 * half) & 0xffff, m);
    }
  for (std::size_t i = 0; i < count; ++i) sums[i] = multiply_add(H{}, s[0][i], s[1][i], s[2][i]);
  WARPMAT_EACH_LANE store(result, lane, word_of<halves>([&](int shift) HWY_ATTR {
                            return half_result<H, plain>(sums[2 * shift + lane], m);  // the second half's sums follow 32 later
                          }));
}

/// If a or b is the NaN of an element outside a tensor, the result of fma.oob is +0.
template <int halves>
void clear_outside(void* result, const uint32_t (&a)[32], const uint32_t (&b)[32]) {
  WARPMAT_EACH_LANE store(result, lane, word_of<halves>([&](int shift) HWY_ATTR {
                            const bool outside =
                                (a[lane] >> shift & 0x7fff) == out_of_bounds_nan || (b[lane] >> shift & 0x7fff) == out_of_bounds_nan;
                            return outside ? 0 : load<uint32_t>(result, lane) >> shift & 0xffff;
                          }));
}

template <typename H, int halves>
void fused(void* const* results, const void* const* sources, const Modifiers& modifiers) {
  const Modifiers m = modifiers;
  alignas(64) uint32_t a[32], b[32];  // copies: the result may alias them
  if (m.out_of_bounds) {
    WARPMAT_EACH_LANE a[lane] = load<uint32_t>(sources[0], lane), b[lane] = load<uint32_t>(sources[1], lane);
  }
  if (is_plain(m))
    multiply_add<H, halves, true>(results[0], sources, m);
  else
    multiply_add<H, halves, false>(results[0], sources, m);
  if (m.out_of_bounds) clear_outside<halves>(results[0], a, b);
}

constexpr Kernel half_table[] = {
    {"add.f16", half_arithmetic<F16, Sum, 1>},
    {"add.bf16", half_arithmetic<Bf16, Sum, 1>},
    {"add.f16x2", half_arithmetic<F16, Sum, 2>},
    {"add.bf16x2", half_arithmetic<Bf16, Sum, 2>},
    {"sub.f16", half_arithmetic<F16, Difference, 1>},
    {"sub.bf16", half_arithmetic<Bf16, Difference, 1>},
    {"sub.f16x2", half_arithmetic<F16, Difference, 2>},
    {"sub.bf16x2", half_arithmetic<Bf16, Difference, 2>},
    {"mul.f16", half_arithmetic<F16, Product, 1>},
    {"mul.bf16", half_arithmetic<Bf16, Product, 1>},
    {"mul.f16x2", half_arithmetic<F16, Product, 2>},
    {"mul.bf16x2", half_arithmetic<Bf16, Product, 2>},
    {"fma.f16", fused<F16, 1>},
    {"fma.bf16", fused<Bf16, 1>},
    {"fma.f16x2", fused<F16, 2>},
    {"fma.bf16x2", fused<Bf16, 2>},
    {"neg.f16", unary<half_negate<F16>, 1>},
    {"neg.bf16", unary<half_negate<Bf16>, 1>},
    {"neg.f16x2", unary<half_negate<F16>, 2>},
    {"neg.bf16x2", unary<half_negate<Bf16>, 2>},
    {"abs.f16", unary<half_absolute<F16>, 1>},
    {"abs.bf16", unary<half_absolute<Bf16>, 1>},
    {"abs.f16x2", unary<half_absolute<F16>, 2>},
    {"abs.bf16x2", unary<half_absolute<Bf16>, 2>},
    {"min.f16", pick<half_pick<F16, true>, 1>},
    {"min.bf16", pick<half_pick<Bf16, true>, 1>},
    {"min.f16x2", pick<half_pick<F16, true>, 2>},
    {"min.bf16x2", pick<half_pick<Bf16, true>, 2>},
    {"max.f16", pick<half_pick<F16, false>, 1>},
    {"max.bf16", pick<half_pick<Bf16, false>, 1>},
    {"max.f16x2", pick<half_pick<F16, false>, 2>},
    {"max.bf16x2", pick<half_pick<Bf16, false>, 2>},
};

std::span<const Kernel> half_kernels_here() {
  return half_table;
}

}  // namespace
}  // namespace warpmat::scalar::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace warpmat::scalar {

HWY_EXPORT(half_kernels_here);

std::span<const Kernel> half_kernels() {
  return WARPMAT_KERNEL(half_kernels_here)();
}

}  // namespace warpmat::scalar
#endif
