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

constexpr float sum(float a, float b) {
  return a + b;
}
constexpr float difference(float a, float b) {
  return a - b;
}
constexpr float product(float a, float b) {
  return a * b;
}

/// One result word: the lower half and, if there are two, the upper half. `f(shift)` returns the code of the half at that bit.
template <int halves, typename F>
HWY_INLINE uint32_t word_of(F f) {
  if constexpr (halves == 2) return f(0) | f(16) << 16;
  return f(0);
}

/// add, sub and mul.
template <typename H, float (*f)(float, float), int halves, bool plain>
HWY_INLINE void binary(void* result, const void* const* sources, const Modifiers& modifiers) {
  const HalfModifiers<H> m(modifiers);
  const void *const first = sources[0], *const second = sources[1];
  WARPMAT_EACH_LANE {
    const auto a = load<uint32_t>(first, lane), b = load<uint32_t>(second, lane);
    store(result, lane, word_of<halves>([&](int shift) HWY_ATTR {
            const float x = half_source<H, plain>(a >> shift & 0xffff, m), y = half_source<H, plain>(b >> shift & 0xffff, m);
            return half_result<H, plain>(f(x, y), m);
          }));
  }
}

template <typename H, float (*f)(float, float), int halves>
void half_arithmetic(void* const* results, const void* const* sources, const Modifiers& m) {
  if (is_plain(m))
    binary<H, f, halves, true>(results[0], sources, m);
  else
    binary<H, f, halves, false>(results[0], sources, m);
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

/// fma of `halves` values a lane. One loop for each step: the compiler vectorises only short loops.
template <typename H, int halves, bool plain>
HWY_INLINE void multiply_add(void* result, const void* const* sources, const Modifiers& modifiers) {
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
    {"add.f16", half_arithmetic<F16, sum, 1>},
    {"add.bf16", half_arithmetic<Bf16, sum, 1>},
    {"add.f16x2", half_arithmetic<F16, sum, 2>},
    {"add.bf16x2", half_arithmetic<Bf16, sum, 2>},
    {"sub.f16", half_arithmetic<F16, difference, 1>},
    {"sub.bf16", half_arithmetic<Bf16, difference, 1>},
    {"sub.f16x2", half_arithmetic<F16, difference, 2>},
    {"sub.bf16x2", half_arithmetic<Bf16, difference, 2>},
    {"mul.f16", half_arithmetic<F16, product, 1>},
    {"mul.bf16", half_arithmetic<Bf16, product, 1>},
    {"mul.f16x2", half_arithmetic<F16, product, 2>},
    {"mul.bf16x2", half_arithmetic<Bf16, product, 2>},
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
