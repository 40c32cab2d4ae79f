// Kernels of f32 and f64 arithmetic, compiled once for each instruction set.

#include <warpmat/scalar/floating.h>
#include <warpmat/scalar/half.h>
#include <warpmat/scalar/kernels.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "warpmat/scalar/floating.cpp"
#include <hwy/foreach_target.h>

#include <warpmat/scalar/round-inl.h>

HWY_BEFORE_NAMESPACE();
namespace warpmat::scalar::HWY_NAMESPACE {
namespace {

/// A source of arithmetic in T: of type T, or a half that widens to T exactly.
template <typename T, typename Source>
HWY_INLINE T read(const void* words, int lane) {
  if constexpr (std::is_same_v<T, Source>)
    return load<T>(words, lane);
  else
    return widen(load<Source>(words, lane));
}

#if defined(__SSE2__)

/// f of one lane's sources. If `ftz` is set, RoundingMode makes the CPU flush.
template <auto f, typename... T>
HWY_INLINE auto rounded(bool, T... sources) {
  return f(sources...);
}

#else

constexpr float smallest_normal = 0x1p-126F;

/// Emulates RoundingMode's flushing on x86-64 with arithmetic that does not flush. Only a result equal to the smallest normal number needs
/// a second look. If it has that value rounded toward zero too, it stays. Else the result of scaled sources decides, which has 24 bits with
/// a smaller exponent. Sums need no second look: small sums are exact.
template <auto f, typename... T>
float rounded_and_flushed(T... given) {
  constexpr std::size_t count = sizeof...(T);
  const volatile float s[] = {std::is_same_v<T, float> ? flush(static_cast<float>(given)) : static_cast<float>(given)...};
  const auto call = [&](float first, float third) {
    if constexpr (count == 1) return f(s[0] / first);
    if constexpr (count == 2) return f(s[0] * first, s[1]);
    if constexpr (count == 3) return f(s[0] * first, s[1], s[2] * third);
  };
  const float result = call(1, 1);
  if (!(std::abs(result) <= smallest_normal)) return result;
  if (std::abs(result) < smallest_normal) return std::copysign(0.0F, result);
  volatile float toward_zero;
  {
    const RoundingMode mode(RoundingMode::toward_zero);
    toward_zero = call(1, 1);
  }
  constexpr float scale = 0x1p24F;
  const bool stays = std::abs(toward_zero) >= smallest_normal || std::abs(call(scale, scale)) >= smallest_normal * scale;
  return stays ? result : std::copysign(0.0F, result);
}

/// f of one lane's sources, flushed if `ftz` is set.
template <auto f, typename... T>
auto rounded(bool ftz, T... sources) {
  if constexpr ((std::is_same_v<T, float> && ...) && sizeof...(T) <= 3)
    if (ftz) return rounded_and_flushed<f>(sources...);
  return f(sources...);
}

#endif

/// results[0] = f(sources...), rounded by the modifiers. `Sources` are the types of the registers. .ftz is the CPU's own flushing: a result
/// that rounds up to the smallest normal number stays only if 24 bits with a smaller exponent could not hold it [H200].
template <auto f, typename... Sources>
struct Arithmetic;

template <typename T, typename... A, T (*f)(A...), typename... Sources>
struct Arithmetic<f, Sources...> {
  template <typename... Pointers>
  static HWY_INLINE void lanes(void* result, bool ftz, bool saturate, Pointers... sources) {
    if constexpr (std::is_floating_point_v<T>)
      if (saturate) {
        WARPMAT_EACH_LANE store<T>(result, lane, saturate_to_one(rounded<f>(ftz, read<T, Sources>(sources, lane)...)));
        return;
      }
    WARPMAT_EACH_LANE store<T>(result, lane, rounded<f>(ftz, read<T, Sources>(sources, lane)...));
  }

  template <std::size_t... i>
  static HWY_INLINE void run_usual(void* result, const void* const* sources, std::index_sequence<i...>) {
    lanes(result, false, false, sources[i]...);
  }

  template <std::size_t... i>
  static HWY_NOINLINE void run_by(void* result, const void* const* sources, const Modifiers& m, std::index_sequence<i...>) {
    const Rounding rounding = m.rounding;
    const bool ftz = m.ftz, saturate = m.saturate;
    if (is_callers_mode(rounding, ftz)) return lanes(result, false, saturate, sources[i]...);
    const RoundingMode mode(mode_of(rounding), ftz);
    lanes(result, ftz, saturate, sources[i]...);
  }

  /// Without modifiers no stack is needed.
  static void run(void* const* results, const void* const* sources, const Modifiers& m) {
    constexpr std::index_sequence_for<A...> all{};
    if (HWY_LIKELY(m.rounding == Rounding::nearest_even && !m.ftz && !m.saturate)) return run_usual(results[0], sources, all);
    run_by(results[0], sources, m, all);
  }
};

template <auto f>
struct SameSources;
template <typename T, typename... A, T (*f)(A...)>
struct SameSources<f> {
  using Type = Arithmetic<f, A...>;
};

/// Registers of f's own types.
template <auto f>
constexpr Function arithmetic = SameSources<f>::Type::run;

/// Registers of the types `Sources`.
template <auto f, typename... Sources>
constexpr Function mixed = Arithmetic<f, Sources...>::run;

using P = FloatPair;

constexpr Kernel floating_table[] = {
    {"add.f32", arithmetic<float_add<float>>},
    {"sub.f32", arithmetic<float_subtract<float>>},
    {"mul.f32", arithmetic<float_multiply<float>>},
    {"mul_d8.f32", arithmetic<float_multiply_scaled<-3>>},
    {"mul_d4.f32", arithmetic<float_multiply_scaled<-2>>},
    {"mul_d2.f32", arithmetic<float_multiply_scaled<-1>>},
    {"mul_m2.f32", arithmetic<float_multiply_scaled<1>>},
    {"mul_m4.f32", arithmetic<float_multiply_scaled<2>>},
    {"mul_m8.f32", arithmetic<float_multiply_scaled<3>>},
    {"fma.f32", arithmetic<float_multiply_add<float>>},
    {"div.f32", arithmetic<float_divide<float>>},
    {"rcp.f32", arithmetic<float_reciprocal<float>>},
    {"sqrt.f32", arithmetic<float_square_root<float>>},
    {"neg.f32", each_lane<negate_f32>},
    {"abs.f32", each_lane<absolute_f32>},
    {"add.f64", arithmetic<float_add<double>>},
    {"sub.f64", arithmetic<float_subtract<double>>},
    {"mul.f64", arithmetic<float_multiply<double>>},
    {"fma.f64", arithmetic<float_multiply_add<double>>},
    {"div.f64", arithmetic<float_divide<double>>},
    {"rcp.f64", arithmetic<float_reciprocal<double>>},
    {"sqrt.f64", arithmetic<float_square_root<double>>},
    {"neg.f64", each_lane<float_negate<double>>},
    {"abs.f64", each_lane<float_absolute<double>>},
    {"add.f32x2", arithmetic<on_pair<float_add<float>, P, P>>},
    {"sub.f32x2", arithmetic<on_pair<float_subtract<float>, P, P>>},
    {"mul.f32x2", arithmetic<on_pair<float_multiply<float>, P, P>>},
    {"fma.f32x2", arithmetic<on_pair<float_multiply_add<float>, P, P, P>>},
    {"add.f32.f16", mixed<float_add<float>, F16, float>},
    {"add.f32.bf16", mixed<float_add<float>, Bf16, float>},
    {"sub.f32.f16", mixed<float_subtract<float>, F16, float>},
    {"sub.f32.bf16", mixed<float_subtract<float>, Bf16, float>},
    {"fma.f32.f16", mixed<float_multiply_add<float>, F16, F16, float>},
    {"fma.f32.bf16", mixed<float_multiply_add<float>, Bf16, Bf16, float>},
    {"min.f32", each_lane<OrderF32::pick<true>>},
    {"max.f32", each_lane<OrderF32::pick<false>>},
    {"min3.f32", each_lane<OrderF32::pick3<true>>},
    {"max3.f32", each_lane<OrderF32::pick3<false>>},
    {"min.f64", each_lane<pick_f64<true>>},
    {"max.f64", each_lane<pick_f64<false>>},
    {"copysign.f32", each_lane<copy_sign<std::uint32_t>>},
    {"copysign.f64", each_lane<copy_sign<std::uint64_t>>},
    {"testp.finite.f32", each_lane<test_finite<float>>},
    {"testp.infinite.f32", each_lane<test_infinite<float>>},
    {"testp.number.f32", each_lane<test_number<float>>},
    {"testp.notanumber.f32", each_lane<test_not_a_number<float>>},
    {"testp.normal.f32", each_lane<test_normal<float>>},
    {"testp.subnormal.f32", each_lane<test_subnormal<float>>},
    {"testp.finite.f64", each_lane<test_finite<double>>},
    {"testp.infinite.f64", each_lane<test_infinite<double>>},
    {"testp.number.f64", each_lane<test_number<double>>},
    {"testp.notanumber.f64", each_lane<test_not_a_number<double>>},
    {"testp.normal.f64", each_lane<test_normal<double>>},
    {"testp.subnormal.f64", each_lane<test_subnormal<double>>},
};

std::span<const Kernel> float_kernels_here() {
  return floating_table;
}

}  // namespace
}  // namespace warpmat::scalar::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace warpmat::scalar {

HWY_EXPORT(float_kernels_here);

std::span<const Kernel> float_kernels() {
  return WARPMAT_KERNEL(float_kernels_here)();
}

}  // namespace warpmat::scalar
#endif
