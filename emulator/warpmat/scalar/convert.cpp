// Kernels of cvt between integers, f32 and f64, and from halves to them, compiled once for each instruction set.

#include <utility>

#include <warpmat/scalar/kernels.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "warpmat/scalar/convert.cpp"
#include <hwy/foreach_target.h>

#include <warpmat/scalar/convert-inl.h>
#include <warpmat/scalar/round-inl.h>

HWY_BEFORE_NAMESPACE();
namespace warpmat::scalar::HWY_NAMESPACE {
namespace {

using std::int16_t, std::int32_t, std::int64_t, std::int8_t, std::uint16_t, std::uint32_t, std::uint64_t, std::uint8_t;

/// NaN becomes 0; if the source or the result has 64 bits, it becomes the highest bit alone [H200].
template <typename D, typename S>
constexpr D integer_of_nan = sizeof(D) == 8 || sizeof(S) == 8 ? static_cast<D>(std::uint64_t{1} << (sizeof(D) * 8 - 1)) : D{0};

/// The sources as doubles, rounded to whole numbers.
template <typename S>
void round_to_whole(void* result, const void* source, const Modifiers& m) {
  const bool ftz = m.ftz;
  with_rounding(m.rounding, [&](auto rounding) HWY_ATTR {
    WARPMAT_EACH_LANE store<double>(result, lane, to_whole<rounding()>(static_cast<double>(number<S>(source, lane, ftz))));
  });
}

/// Up to 32 bits in two loops, the first of which overwrites `whole`: g++ vectorises one loop of both worse.
template <typename D, D of_nan>
void convert_whole(void* result, void* whole) {
  if constexpr (sizeof(D) == 8) {
    WARPMAT_EACH_LANE store<D>(result, lane, whole_to_integer<D>(load<double>(whole, lane), of_nan));
  } else {
    WARPMAT_EACH_LANE store<double>(whole, lane, clamp_to<D>(load<double>(whole, lane), of_nan));
    WARPMAT_EACH_LANE store<D>(result, lane, integer_of<D>(load<double>(whole, lane)));
  }
}

/// By way of doubles, so that there is a loop for each source and rounding, and those of each result, but none for each of all three.
template <typename D, typename S>
void float_to_integer(void* const* results, const void* const* sources, const Modifiers& modifiers) {
  uint64_t whole[32];
  round_to_whole<S>(whole, sources[0], modifiers);
  convert_whole<D, integer_of_nan<D, S>>(results[0], whole);
}

/// Doubles hold integers of up to 32 bits exactly, so there is only one rounding.
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
  in_mode(m.rounding, [&]() HWY_ATTR {
    WARPMAT_EACH_LANE {
      const D x = integer_to_number<D>(load<S>(sources[0], lane));
      store<D>(results[0], lane, m.saturate ? saturate_to_one(x) : x);
    }
  });
}

/// Between f32 and f64, and from halves to them. NaN [H200]: f64 to f32 keeps the sign and the upper bits of the fraction, quiet. f32 to
/// f64 keeps everything, unless .ftz has made the NaN canonical. bf16 to f32 without .ftz keeps all bits. f16 to f32 gives the canonical
/// NaN.
template <typename D, typename S>
void float_to_float(void* const* results, const void* const* sources, const Modifiers& modifiers) {
  const Modifiers m = modifiers;
  in_mode(m.rounding, [&]() HWY_ATTR {
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
  });
}

/// Conversion within one type: to whole numbers, or only flushed and clamped. cvt.f32.f32 and cvt.f64.f64 without modifiers are moves; all
/// other cases of f32 and halves make NaN canonical [H200].
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

// A row for each source type. The result's signedness matters only with saturation.
#define WARPMAT_FROM_INTEGER(S, s)                                                                                         \
  {"cvt.b8." s, each_lane<convert_integer<uint8_t, S>>}, {"cvt.b16." s, each_lane<convert_integer<uint16_t, S>>},          \
      {"cvt.b32." s, each_lane<convert_integer<uint32_t, S>>}, {"cvt.b64." s, each_lane<convert_integer<uint64_t, S>>},    \
      {"cvt.sat.u8." s, each_lane<convert_integer_saturating<uint8_t, S>>},                                                \
      {"cvt.sat.s8." s, each_lane<convert_integer_saturating<int8_t, S>>},                                                 \
      {"cvt.sat.u16." s, each_lane<convert_integer_saturating<uint16_t, S>>},                                              \
      {"cvt.sat.s16." s, each_lane<convert_integer_saturating<int16_t, S>>},                                               \
      {"cvt.sat.u32." s, each_lane<convert_integer_saturating<uint32_t, S>>},                                              \
      {"cvt.sat.s32." s, each_lane<convert_integer_saturating<int32_t, S>>},                                               \
      {"cvt.sat.u64." s, each_lane<convert_integer_saturating<uint64_t, S>>},                                              \
      {"cvt.sat.s64." s, each_lane<convert_integer_saturating<int64_t, S>>}, {"cvt.f32." s, integer_to_float<float, S>}, { \
    "cvt.f64." s, integer_to_float<double, S>                                                                              \
  }

#define WARPMAT_FROM_FLOAT(S, s)                                                                                                          \
  {"cvt.u8." s, float_to_integer<uint8_t, S>}, {"cvt.s8." s, float_to_integer<int8_t, S>}, {"cvt.u16." s, float_to_integer<uint16_t, S>}, \
      {"cvt.s16." s, float_to_integer<int16_t, S>}, {"cvt.u32." s, float_to_integer<uint32_t, S>},                                        \
      {"cvt.s32." s, float_to_integer<int32_t, S>}, {"cvt.u64." s, float_to_integer<uint64_t, S>},                                        \
      {"cvt.s64." s, float_to_integer<int64_t, S>}, {                                                                                     \
    "cvt.same." s, same_type<S>                                                                                                           \
  }

constexpr Kernel convert_table[] = {
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
  return convert_table;
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
