// Kernels of cvt to the floating-point formats of up to 19 bits, compiled once for each instruction set.

#include <utility>

#include <warpmat/scalar/kernels.h>
#include <warpmat/scalar/small_float.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "warpmat/scalar/convert_small.cpp"
#include <hwy/foreach_target.h>

#include <warpmat/scalar/convert-inl.h>

HWY_BEFORE_NAMESPACE();
namespace warpmat::scalar::HWY_NAMESPACE {
namespace {

using std::int16_t, std::int32_t, std::int64_t, std::int8_t, std::uint16_t, std::uint32_t, std::uint64_t, std::uint8_t;

/// Rounds 32 numbers of f32 to codes of the small format. `keeps_nan`: a NaN becomes its shorter_nan().
template <Rounding rounding, bool keeps_nan>
void round_numbers(void* result, const void* source, const Modifiers& m) {
  const SmallFloat format = m.format;
  const bool finite = m.finite, relu = m.relu;
  WARPMAT_EACH_LANE {
    const auto x = load<float>(source, lane);
    uint32_t code = to_small(Directed<rounding>(), x, format, finite, relu);
    if constexpr (keeps_nan) code = is_nan(x) ? shorter_nan(x, format.fraction_bits, format.sign) : code;
    store<uint32_t>(result, lane, code << format.unused_low_bits);
  }
}

template <bool keeps_nan = false>
HWY_INLINE void round_to_format(void* result, const void* source, const Modifiers& m) {
  with_rounding(m.rounding, [&](auto rounding) HWY_ATTR { round_numbers<rounding(), keeps_nan>(result, source, m); });
}

/// Integers of 64 bits keep at most 53 bits; the last of them is sticky.
template <typename S>
HWY_INLINE double integer_to_double(S x) {
  if constexpr (sizeof(S) < 8) return static_cast<double>(x);
  const bool negative = std::cmp_less(x, 0);
  const uint64_t absolute = with_sticky_bit(negative ? 0 - static_cast<uint64_t>(x) : static_cast<uint64_t>(x));
  const double upper = static_cast<double>(static_cast<uint32_t>(absolute >> 32)) * 0x1p32;
  const double sum = upper + static_cast<double>(static_cast<uint32_t>(absolute));  // exact
  return negative ? -sum : sum;
}

/// .sat leaves 0 or 1.
template <typename S>
void saturate_integer(void* result, const void* source, const SmallFloat& format) {
  const uint32_t one = to_small(Directed<Rounding::toward_zero>(), 1.0f, format, false, false) << format.unused_low_bits;
  WARPMAT_EACH_LANE {
    store<uint32_t>(result, lane, std::cmp_greater(load<S>(source, lane), 0) ? one : 0);
  }
}

template <typename S>
void integer_to_small(void* const* results, const void* const* sources, const Modifiers& m) {
  if (m.saturate) return saturate_integer<S>(results[0], sources[0], m.format);
  uint32_t numbers[32];
  WARPMAT_EACH_LANE {
    const auto x = load<S>(sources[0], lane);
    if constexpr (sizeof(S) <= 2)
      store<float>(numbers, lane, static_cast<float>(x));
    else
      store<float>(numbers, lane, round_to_odd(integer_to_double(x)));
  }
  round_to_format(results[0], numbers, m);
}

/// A number as f32, whose rounding to a small format is the number's.
template <typename S>
HWY_INLINE float narrowed(S x) {
  if constexpr (sizeof(S) == 8)
    return is_nan(x) ? std::bit_cast<float>(shorter_nan(x, 23, FloatBits<float>::sign)) : round_to_odd(x);
  else
    return x;
}

/// .ftz changes nothing here: subnormal sources of f32 count [H200].
template <typename S>
void float_to_small(void* const* results, const void* const* sources, const Modifiers& m) {
  constexpr bool keeps_nan = sizeof(S) == 8;
  if (std::is_same_v<S, float> && !m.saturate) return round_to_format(results[0], sources[0], m);
  const bool saturate = m.saturate;
  uint32_t numbers[32];
  WARPMAT_EACH_LANE {
    const auto x = number<S>(sources[0], lane, false);
    store<float>(numbers, lane, narrowed(saturate ? saturate_to_one(x) : x));
  }
  round_to_format<keeps_nan>(results[0], numbers, m);
}

/// cvt.rna.tf32.f32 adds half of the last place and truncates. Infinities and NaNs are only truncated. .satfinite replaces infinity by the
/// next smaller code [H200].
void round_to_tf32(void* const* results, const void* const* sources, const Modifiers& modifiers) {
  const bool finite = modifiers.finite;
  constexpr uint32_t place = 1 << 13, infinity = FloatBits<float>::infinity;
  WARPMAT_EACH_LANE {
    const auto bits = load<uint32_t>(sources[0], lane);
    const bool special = (bits & infinity) == infinity;
    const uint32_t cut = (special ? bits : bits + place / 2) & ~(place - 1);
    store<uint32_t>(results[0], lane, finite && (cut & infinity) == infinity ? cut - place : cut);
  }
}

constexpr Kernel convert_small_table[] = {
    {"cvt.small.u8", integer_to_small<uint8_t>},   {"cvt.small.s8", integer_to_small<int8_t>},
    {"cvt.small.u16", integer_to_small<uint16_t>}, {"cvt.small.s16", integer_to_small<int16_t>},
    {"cvt.small.u32", integer_to_small<uint32_t>}, {"cvt.small.s32", integer_to_small<int32_t>},
    {"cvt.small.u64", integer_to_small<uint64_t>}, {"cvt.small.s64", integer_to_small<int64_t>},
    {"cvt.small.f16", float_to_small<F16>},        {"cvt.small.bf16", float_to_small<Bf16>},
    {"cvt.small.f32", float_to_small<float>},      {"cvt.small.f64", float_to_small<double>},
    {"cvt.rna.tf32.f32", round_to_tf32},
};

std::span<const Kernel> small_conversion_kernels_here() {
  return convert_small_table;
}

}  // namespace
}  // namespace warpmat::scalar::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace warpmat::scalar {

HWY_EXPORT(small_conversion_kernels_here);

std::span<const Kernel> small_conversion_kernels() {
  return WARPMAT_KERNEL(small_conversion_kernels_here)();
}

}  // namespace warpmat::scalar
#endif
