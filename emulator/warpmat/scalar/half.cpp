// Kernels of f16 and bf16 arithmetic, one and two in a register, compiled once for each instruction set.

#include <warpmat/scalar/half.h>
#include <warpmat/scalar/kernels.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "warpmat/scalar/half.cpp"
#include <hwy/foreach_target.h>

#include <warpmat/scalar/round-inl.h>

HWY_BEFORE_NAMESPACE();
namespace warpmat::scalar::HWY_NAMESPACE {
namespace {

using std::uint16_t, std::uint32_t;

// Lane functions of halves on both halves of words.

template <typename H, auto f>
uint32_t one(uint32_t a, const Modifiers& m) {
  const auto part = [&](int shift) { return f(H{static_cast<uint16_t>(a >> shift)}, m).bits; };
  return static_cast<uint32_t>(part(16)) << 16 | part(0);
}

template <typename H, auto f>
uint32_t two(uint32_t a, uint32_t b, const Modifiers& m) {
  const auto part = [&](int shift) { return f(H{static_cast<uint16_t>(a >> shift)}, H{static_cast<uint16_t>(b >> shift)}, m).bits; };
  return static_cast<uint32_t>(part(16)) << 16 | part(0);
}

/// An f16 or bf16 source that fma.oob looks for: the NaN that stands for an element outside a tensor.
constexpr uint16_t out_of_bounds_nan = 0x7ff7;  // of either sign, in f16 and in bf16 [H200]

/// fma of `halves` values a lane. The sum is rounded to f32 downward and upward; where the two differ it is inexact, and the one nearer to
/// zero with its last bit set is the sum rounded to odd, from which the half is rounded correctly: f32 has more than two bits more.
template <typename H, std::size_t halves>
void multiply_add(void* const* results, const void* const* sources, const Modifiers& modifiers) {
  const Modifiers m = modifiers;
  alignas(64) float s[3][halves * 32];
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t half = 0; half < halves; ++half) {
      float* const values = s[i] + 32 * half;
      WARPMAT_EACH_LANE values[lane] = widen(source(H{static_cast<uint16_t>(load<uint32_t>(sources[i], lane) >> (16 * half))}, m));
    }
  alignas(64) float downward[halves * 32], upward[halves * 32];
  const auto sums = [&](RoundingMode::Mode rounding, float* sum) HWY_ATTR {
    asm volatile("" : : "r"(s), "r"(sum) : "memory");  // the arrays are memory, which RoundingMode's fences hold
    const RoundingMode mode(rounding);
    for (std::size_t i = 0; i < halves * 32; ++i) sum[i] = std::fma(s[0][i], s[1][i], s[2][i]);
  };
  sums(RoundingMode::down, downward);
  sums(RoundingMode::up, upward);
  const auto half_of = [&](int i, int lane) HWY_ATTR {
    const float low = (downward + 32 * i)[lane], high = (upward + 32 * i)[lane];
    const bool exact = low == high;  // a zero that is exact is the upper one's, +0 unless both terms are -0
    const auto nearer = std::bit_cast<uint32_t>(low < 0 || exact ? high : low);
    H x = finish<H>(std::bit_cast<float>(nearer | static_cast<uint32_t>(!exact)), m);
    if (m.out_of_bounds) {
      const auto is_outside = [&](std::size_t k) { return (load<uint32_t>(sources[k], lane) >> (16 * i) & 0x7fff) == out_of_bounds_nan; };
      if (is_outside(0) || is_outside(1)) x.bits = 0;
    }
    return static_cast<uint32_t>(x.bits);
  };
  WARPMAT_EACH_LANE {
    uint32_t word = half_of(0, lane);
    if constexpr (halves == 2) word |= half_of(1, lane) << 16;
    store<uint32_t>(results[0], lane, word);
  }
}

constexpr Kernel kernels[] = {
    {"add.f16", each_lane<half_add<F16>>},
    {"add.bf16", each_lane<half_add<Bf16>>},
    {"add.f16x2", each_lane<two<F16, half_add<F16>>>},
    {"add.bf16x2", each_lane<two<Bf16, half_add<Bf16>>>},
    {"sub.f16", each_lane<half_subtract<F16>>},
    {"sub.bf16", each_lane<half_subtract<Bf16>>},
    {"sub.f16x2", each_lane<two<F16, half_subtract<F16>>>},
    {"sub.bf16x2", each_lane<two<Bf16, half_subtract<Bf16>>>},
    {"mul.f16", each_lane<half_multiply<F16>>},
    {"mul.bf16", each_lane<half_multiply<Bf16>>},
    {"mul.f16x2", each_lane<two<F16, half_multiply<F16>>>},
    {"mul.bf16x2", each_lane<two<Bf16, half_multiply<Bf16>>>},
    {"fma.f16", multiply_add<F16, 1>},
    {"fma.bf16", multiply_add<Bf16, 1>},
    {"fma.f16x2", multiply_add<F16, 2>},
    {"fma.bf16x2", multiply_add<Bf16, 2>},
    {"neg.f16", each_lane<half_negate<F16>>},
    {"neg.bf16", each_lane<half_negate<Bf16>>},
    {"neg.f16x2", each_lane<one<F16, half_negate<F16>>>},
    {"neg.bf16x2", each_lane<one<Bf16, half_negate<Bf16>>>},
    {"abs.f16", each_lane<half_absolute<F16>>},
    {"abs.bf16", each_lane<half_absolute<Bf16>>},
    {"abs.f16x2", each_lane<one<F16, half_absolute<F16>>>},
    {"abs.bf16x2", each_lane<one<Bf16, half_absolute<Bf16>>>},
    {"min.f16", each_lane<half_pick<F16, true>>},
    {"min.bf16", each_lane<half_pick<Bf16, true>>},
    {"min.f16x2", each_lane<two<F16, half_pick<F16, true>>>},
    {"min.bf16x2", each_lane<two<Bf16, half_pick<Bf16, true>>>},
    {"max.f16", each_lane<half_pick<F16, false>>},
    {"max.bf16", each_lane<half_pick<Bf16, false>>},
    {"max.f16x2", each_lane<two<F16, half_pick<F16, false>>>},
    {"max.bf16x2", each_lane<two<Bf16, half_pick<Bf16, false>>>},
};

std::span<const Kernel> half_kernels_here() {
  return kernels;
}

}  // namespace
}  // namespace warpmat::scalar::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace warpmat::scalar {

HWY_EXPORT(half_kernels_here);

std::span<const Kernel> half_kernels() {
  return HWY_DYNAMIC_DISPATCH(half_kernels_here)();
}

}  // namespace warpmat::scalar
#endif
