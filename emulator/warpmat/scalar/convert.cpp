// Kernels of cvt between integers and floating-point numbers of all widths, compiled once for each instruction set.

#include <utility>

#include <warpmat/scalar/convert.h>
#include <warpmat/scalar/half.h>
#include <warpmat/scalar/kernels.h>
#include <warpmat/scalar/small_float.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "warpmat/scalar/convert.cpp"
#include <hwy/foreach_target.h>

#include <warpmat/scalar/round-inl.h>

HWY_BEFORE_NAMESPACE();
namespace warpmat::scalar::HWY_NAMESPACE {
namespace {

using std::int16_t, std::int32_t, std::int64_t, std::int8_t, std::uint16_t, std::uint32_t, std::uint64_t, std::uint8_t;

/// A source as a number: halves as f32, the others as they are; .ftz is of f32 alone.
template <typename S>
HWY_INLINE auto number(const void* source, int lane, bool ftz) {
  const S x = load<S>(source, lane);
  if constexpr (std::is_same_v<S, float>)
    return ftz ? flush(x) : x;
  else if constexpr (sizeof(S) == 2)
    return widen(x);
  else
    return x;
}

/// Calls `pass` with the rounding as a constant: conversions whose loops differ by it.
template <typename Pass>
HWY_INLINE void with_rounding(Rounding rounding, Pass pass) {
  using enum Rounding;
  switch (rounding) {
    case nearest_even: return pass(std::integral_constant<Rounding, nearest_even>());
    case toward_zero: return pass(std::integral_constant<Rounding, toward_zero>());
    case down: return pass(std::integral_constant<Rounding, down>());
    case up: return pass(std::integral_constant<Rounding, up>());
    case nearest_away: return pass(std::integral_constant<Rounding, nearest_away>());
    case stochastic: return;  // cvt.rs has kernels of its own
  }
}

/// NaN is 0, but the highest bit alone where the source or the result has 64 bits [H200].
template <typename D, typename S>
constexpr D integer_of_nan = sizeof(D) == 8 || sizeof(S) == 8 ? static_cast<D>(std::uint64_t{1} << (sizeof(D) * 8 - 1)) : D{0};

template <typename D, typename S>
void float_to_integer(void* const* results, const void* const* sources, const Modifiers& modifiers) {
  const Modifiers m = modifiers;
  with_rounding(m.rounding, [&](auto rounding) HWY_ATTR {
    WARPMAT_EACH_LANE {
      const auto x = static_cast<double>(number<S>(sources[0], lane, m.ftz));
      store<D>(results[0], lane, whole_to_integer<D>(to_whole<rounding()>(x), integer_of_nan<D, S>));
    }
  });
}

/// Integers of up to 32 bits are doubles exactly, so that one rounding is left.
template <typename D, typename S>
HWY_INLINE D integer_to_number(S x) {
  if constexpr (sizeof(S) == 8)
    return static_cast<D>(x);
  else
    return static_cast<D>(static_cast<double>(x));
}

template <typename D, typename S>
void integer_to_float(void* const* results, const void* const* sources, const Modifiers& modifiers) {
  const Modifiers m = modifiers;
  const RoundingMode mode(mode_of(m.rounding));
  WARPMAT_EACH_LANE {
    const D x = integer_to_number<D>(load<S>(sources[0], lane));
    store<D>(results[0], lane, m.saturate ? saturate_to_one(x) : x);
  }
}

/// Integers of 64 bits keep at most 53 bits, the last of which tells of any lost ones.
template <typename S>
HWY_INLINE double integer_to_double(S x) {
  if constexpr (sizeof(S) < 8) return static_cast<double>(x);
  const bool negative = std::cmp_less(x, 0);
  const uint64_t absolute = with_sticky_bit(negative ? 0 - static_cast<uint64_t>(x) : static_cast<uint64_t>(x));
  const double upper = static_cast<double>(static_cast<uint32_t>(absolute >> 32)) * 0x1p32;
  const double sum = upper + static_cast<double>(static_cast<uint32_t>(absolute));  // exact
  return negative ? -sum : sum;
}

// The compiler makes vectors of the next two loops only if the modifiers are variables, or constants, of their own.

template <Rounding rounding, bool saturate, typename S>
void round_integers(void* result, const void* source, const Modifiers& m) {
  const SmallFloat format = m.format;
  const bool finite = m.finite, relu = m.relu;
  WARPMAT_EACH_LANE {
    double x = integer_to_double(load<S>(source, lane));
    if constexpr (saturate) x = saturate_to_one(x);
    store<uint32_t>(result, lane, to_small<rounding>(x, format, finite, relu));
  }
}

template <typename S>
void integer_to_small(void* const* results, const void* const* sources, const Modifiers& m) {
  with_rounding(m.rounding, [&](auto rounding) HWY_ATTR {
    const auto loop = m.saturate ? round_integers<rounding(), true, S> : round_integers<rounding(), false, S>;
    loop(results[0], sources[0], m);
  });
}

/// What a NaN of f64 becomes in a shorter format [H200]: the sign and the upper bits of its fraction, quiet.
constexpr uint32_t shorter_nan(double x, int fraction_bits, uint32_t sign) {
  const auto bits = std::bit_cast<uint64_t>(x);
  const uint32_t all = sign - 1;  // exponent and fraction
  const uint32_t exponent = all >> fraction_bits << fraction_bits, quiet_bit = 1u << (fraction_bits - 1);
  return ((bits >> 63) != 0 ? sign : 0) | exponent | quiet_bit | (static_cast<uint32_t>(bits >> (52 - fraction_bits)) & (quiet_bit - 1));
}

template <Rounding rounding, bool saturate, typename S>
void round_numbers(void* result, const void* source, const Modifiers& m) {
  const SmallFloat format = m.format;
  const bool finite = m.finite, relu = m.relu;
  WARPMAT_EACH_LANE {
    auto x = number<S>(source, lane, false);
    if constexpr (saturate) x = saturate_to_one(x);
    uint32_t code = to_small<rounding>(x, format, finite, relu);
    if constexpr (sizeof(S) == 8) code = is_nan(x) ? shorter_nan(x, format.fraction_bits, format.sign) : code;
    store<uint32_t>(result, lane, code << format.unused_low_bits);
  }
}

/// To a format of up to 19 bits; tf32 lies in the upper bits of its word. .ftz changes nothing here: subnormal sources of f32 count [H200].
template <typename S>
void float_to_small(void* const* results, const void* const* sources, const Modifiers& m) {
  with_rounding(m.rounding, [&](auto rounding) HWY_ATTR {
    const auto loop = m.saturate ? round_numbers<rounding(), true, S> : round_numbers<rounding(), false, S>;
    loop(results[0], sources[0], m);
  });
}

/// cvt.rna.tf32.f32 adds half of the last place and drops what is below; infinities and NaNs are only cut off, and .satfinite takes the
/// place below [H200].
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

/// Between f32 and f64, and from halves to them. NaN [H200]: from f64 to f32 the sign and the upper bits of the fraction stay, quiet; from
/// f32 to f64 all of it, unless .ftz made it canonical before; from bf16 to f32 without .ftz all bits; from f16 to f32 it is canonical.
template <typename D, typename S>
void float_to_float(void* const* results, const void* const* sources, const Modifiers& modifiers) {
  const Modifiers m = modifiers;
  const RoundingMode mode(mode_of(m.rounding));
  WARPMAT_EACH_LANE {
    auto source = number<S>(sources[0], lane, m.ftz);
    if constexpr (std::is_same_v<S, float>) source = m.ftz ? with_nan(source, {}) : source;
    D x = static_cast<D>(source);
    if constexpr (std::is_same_v<S, double>)
      x = is_nan(source) ? std::bit_cast<float>(shorter_nan(source, 23, FloatBits<float>::sign)) : x;
    else if constexpr (std::is_same_v<D, float>)
      x = std::is_same_v<S, F16> || m.ftz ? with_nan(x, {}) : x;
    if constexpr (std::is_same_v<D, float>) x = m.ftz ? flush(x) : x;
    if (m.saturate) x = saturate_to_one(x);
    store<D>(results[0], lane, x);
  }
}

/// Of one type: to whole numbers, or only flushed and clamped. cvt.f32.f32 and cvt.f64.f64 alone are moves; in all else f32 and halves, NaN
/// becomes canonical [H200].
template <typename T>
void same_type(void* const* results, const void* const* sources, const Modifiers& modifiers) {
  const Modifiers m = modifiers;
  with_rounding(m.rounding, [&](auto rounding) HWY_ATTR {
    WARPMAT_EACH_LANE {
      auto x = number<T>(sources[0], lane, m.ftz);
      if (m.integral) x = with_nan(to_whole<rounding()>(x), {x});
      if (m.saturate) x = saturate_to_one(x);
      if constexpr (std::is_same_v<T, float>) x = m.ftz ? with_nan(x, {}) : x;
      if constexpr (sizeof(T) == 2)
        store<T>(results[0], lane, narrow<T>(x));
      else
        store<T>(results[0], lane, x);
    }
  });
}

// A row for each source type. The result's sign does not matter without saturation.
#define WARPMAT_FROM_INTEGER(S, s)                                                                                       \
  {"cvt.b8." s, each_lane<convert_integer<uint8_t, S>>}, {"cvt.b16." s, each_lane<convert_integer<uint16_t, S>>},        \
      {"cvt.b32." s, each_lane<convert_integer<uint32_t, S>>}, {"cvt.b64." s, each_lane<convert_integer<uint64_t, S>>},  \
      {"cvt.sat.u8." s, each_lane<convert_integer_saturating<uint8_t, S>>},                                              \
      {"cvt.sat.s8." s, each_lane<convert_integer_saturating<int8_t, S>>},                                               \
      {"cvt.sat.u16." s, each_lane<convert_integer_saturating<uint16_t, S>>},                                            \
      {"cvt.sat.s16." s, each_lane<convert_integer_saturating<int16_t, S>>},                                             \
      {"cvt.sat.u32." s, each_lane<convert_integer_saturating<uint32_t, S>>},                                            \
      {"cvt.sat.s32." s, each_lane<convert_integer_saturating<int32_t, S>>},                                             \
      {"cvt.sat.u64." s, each_lane<convert_integer_saturating<uint64_t, S>>},                                            \
      {"cvt.sat.s64." s, each_lane<convert_integer_saturating<int64_t, S>>}, {"cvt.f32." s, integer_to_float<float, S>}, \
      {"cvt.f64." s, integer_to_float<double, S>}, {                                                                     \
    "cvt.small." s, integer_to_small<S>                                                                                  \
  }

#define WARPMAT_FROM_FLOAT(S, s)                                                                                                          \
  {"cvt.u8." s, float_to_integer<uint8_t, S>}, {"cvt.s8." s, float_to_integer<int8_t, S>}, {"cvt.u16." s, float_to_integer<uint16_t, S>}, \
      {"cvt.s16." s, float_to_integer<int16_t, S>}, {"cvt.u32." s, float_to_integer<uint32_t, S>},                                        \
      {"cvt.s32." s, float_to_integer<int32_t, S>}, {"cvt.u64." s, float_to_integer<uint64_t, S>},                                        \
      {"cvt.s64." s, float_to_integer<int64_t, S>}, {"cvt.small." s, float_to_small<S>}, {                                                \
    "cvt.same." s, same_type<S>                                                                                                           \
  }

constexpr Kernel kernels[] = {
    WARPMAT_FROM_INTEGER(uint8_t, "u8"),
    WARPMAT_FROM_INTEGER(int8_t, "s8"),
    WARPMAT_FROM_INTEGER(uint16_t, "u16"),
    WARPMAT_FROM_INTEGER(int16_t, "s16"),
    WARPMAT_FROM_INTEGER(uint32_t, "u32"),
    WARPMAT_FROM_INTEGER(int32_t, "s32"),
    WARPMAT_FROM_INTEGER(uint64_t, "u64"),
    WARPMAT_FROM_INTEGER(int64_t, "s64"),
    WARPMAT_FROM_FLOAT(F16, "f16"),
    WARPMAT_FROM_FLOAT(Bf16, "bf16"),
    WARPMAT_FROM_FLOAT(float, "f32"),
    WARPMAT_FROM_FLOAT(double, "f64"),
    {"cvt.rna.tf32.f32", round_to_tf32},
    {"cvt.f32.f16", float_to_float<float, F16>},
    {"cvt.f32.bf16", float_to_float<float, Bf16>},
    {"cvt.f32.f64", float_to_float<float, double>},
    {"cvt.f64.f16", float_to_float<double, F16>},
    {"cvt.f64.bf16", float_to_float<double, Bf16>},
    {"cvt.f64.f32", float_to_float<double, float>},
};
#undef WARPMAT_FROM_INTEGER
#undef WARPMAT_FROM_FLOAT

std::span<const Kernel> conversion_kernels_here() {
  return kernels;
}

}  // namespace
}  // namespace warpmat::scalar::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace warpmat::scalar {

HWY_EXPORT(conversion_kernels_here);

std::span<const Kernel> conversion_kernels() {
  return WARPMAT_KERNEL(conversion_kernels_here)();
}

}  // namespace warpmat::scalar
#endif
