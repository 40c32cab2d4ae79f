// Kernels of cvt that read or write several small numbers of one register, and of cvt.pack, compiled once for each instruction set.

#include <algorithm>
#include <type_traits>

#include <warpmat/scalar/half.h>
#include <warpmat/scalar/kernels.h>
#include <warpmat/scalar/small_float.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "warpmat/scalar/convert_packed.cpp"
#include <hwy/foreach_target.h>

#include <warpmat/scalar/lanes-inl.h>

HWY_BEFORE_NAMESPACE();
namespace warpmat::scalar::HWY_NAMESPACE {
namespace {

using std::int32_t, std::uint16_t, std::uint32_t;

/// The upper or lower number of a source: `H` is f16 or bf16.
template <typename H>
HWY_INLINE float half_of(const void* source, int lane, int shift) {
  return widen(H{static_cast<uint16_t>(load<uint32_t>(source, lane) >> shift)});
}

/// Packs the codes of upper(lane) and lower(lane).
template <Rounding rounding, typename Upper, typename Lower>
HWY_INLINE void pack_pair_rounded(void* result, const Modifiers& m, Upper upper, Lower lower) {
  const SmallFloat format = m.format;
  const bool finite = m.finite, relu = m.relu;
  WARPMAT_EACH_LANE {
    const Directed<rounding> how;
    const uint32_t high = to_small(how, upper(lane), format, finite, relu), low = to_small(how, lower(lane), format, finite, relu);
    store<uint32_t>(result, lane, high << format.stride | low);
  }
}

template <typename Upper, typename Lower>
HWY_INLINE void pack_pair(void* result, const Modifiers& m, Upper upper, Lower lower) {
  if (m.rounding == Rounding::toward_zero)
    pack_pair_rounded<Rounding::toward_zero>(result, m, upper, lower);
  else
    pack_pair_rounded<Rounding::nearest_even>(result, m, upper, lower);
}

/// The first source becomes the upper element.
void pair_of_floats(void* const* results, const void* const* sources, const Modifiers& m) {
  const void *const first = sources[0], *const second = sources[1];
  pack_pair(
      results[0], m, [&](int lane) HWY_ATTR { return load<float>(first, lane); },
      [&](int lane) HWY_ATTR { return load<float>(second, lane); });
}

template <typename H>
void pair_of_halves(void* const* results, const void* const* sources, const Modifiers& m) {
  const void* const source = sources[0];
  pack_pair(
      results[0], m, [&](int lane) HWY_ATTR { return half_of<H>(source, lane, 16); },
      [&](int lane) HWY_ATTR { return half_of<H>(source, lane, 0); });
}

// Copies of the addresses: the compiler does not vectorise if a store to a result might change them.

/// cvt.rs of two numbers: each uses `random_bits` bits of one half of the last source.
void pair_of_floats_stochastic(void* const* results, const void* const* sources, const Modifiers& modifiers) {
  const SmallFloat format = modifiers.format;
  const bool finite = modifiers.finite, relu = modifiers.relu;
  const int random_bits = std::min(16, 23 - format.fraction_bits);
  const void *const first = sources[0], *const second = sources[1], *const randoms = sources[2];
  void* const result = results[0];
  WARPMAT_EACH_LANE {
    const auto random = load<uint32_t>(randoms, lane);
    const auto code = [&](const void* source, uint32_t bits) HWY_ATTR {
      const Stochastic how{bits & ((1u << random_bits) - 1), random_bits};
      return to_small(how, load<float>(source, lane), format, finite, relu);
    };
    store<uint32_t>(result, lane, code(first, random >> 16) << format.stride | code(second, random & 0xffff));
  }
}

/// cvt.rs of four numbers a, b, e, f; a becomes the highest element. The upper half of the random bits is for a and b, the lower half for e
/// and f. With 4-bit formats the upper byte of each half is for a and b, the lower byte for e and f.
void quad_of_floats_stochastic(void* const* results, const void* const* sources, const Modifiers& modifiers) {
  const SmallFloat format = modifiers.format;
  const bool finite = modifiers.finite, relu = modifiers.relu, narrow = format.stride == 4;
  const int random_bits = narrow ? 8 : 16;
  const void *const a = sources[0], *const b = sources[1], *const e = sources[2], *const f = sources[3], *const randoms = sources[4];
  void* const result = results[0];
  WARPMAT_EACH_LANE {
    const auto random = load<uint32_t>(randoms, lane);
    const auto code = [&](const void* source, int narrow_place, int wide_place) HWY_ATTR {
      const uint32_t bits = narrow ? random >> narrow_place & 0xff : random >> wide_place & 0xffff;
      return to_small(Stochastic{bits, random_bits}, load<float>(source, lane), format, finite, relu);
    };
    const uint32_t upper = code(a, 24, 16) << format.stride | code(b, 8, 16), lower = code(e, 16, 0) << format.stride | code(f, 0, 0);
    store<uint32_t>(result, lane, upper << 2 * format.stride | lower);
  }
}

/// f16x2 of two packed small numbers: exact. The only modifier is .relu.
void halves_of_pair(void* const* results, const void* const* sources, const Modifiers& modifiers) {
  const SmallFloat format = modifiers.format;
  const uint32_t cleared_by_sign = modifiers.relu ? 0xffff : 0;
  const void* const source = sources[0];
  void* const result = results[0];
  WARPMAT_EACH_LANE {
    const auto codes = load<uint32_t>(source, lane);
    const auto half = [&](uint32_t code) HWY_ATTR {
      const uint32_t exact = narrow_code<F16>(from_small(code & (2 * format.sign - 1), format));
      return exact & ~((0 - (exact >> 15)) & cleared_by_sign);
    };
    store<uint32_t>(result, lane, half(codes >> format.stride) << 16 | half(codes));
  }
}

/// Packs the ue8m0 codes of upper(lane) and lower(lane).
template <typename Upper, typename Lower>
HWY_INLINE void pack_powers(void* result, const Modifiers& modifiers, Upper upper, Lower lower) {
  const bool up = modifiers.rounding == Rounding::up, finite = modifiers.finite;
  WARPMAT_EACH_LANE store<uint32_t>(result, lane, to_power(upper(lane), up, finite) << 8 | to_power(lower(lane), up, finite));
}

void powers_of_floats(void* const* results, const void* const* sources, const Modifiers& m) {
  const void *const first = sources[0], *const second = sources[1];
  pack_powers(
      results[0], m, [&](int lane) HWY_ATTR { return load<float>(first, lane); },
      [&](int lane) HWY_ATTR { return load<float>(second, lane); });
}

void powers_of_halves(void* const* results, const void* const* sources, const Modifiers& m) {
  const void* const source = sources[0];
  pack_powers(
      results[0], m, [&](int lane) HWY_ATTR { return half_of<Bf16>(source, lane, 16); },
      [&](int lane) HWY_ATTR { return half_of<Bf16>(source, lane, 0); });
}

void halves_of_powers(void* const* results, const void* const* sources, const Modifiers&) {
  const void* const source = sources[0];
  void* const result = results[0];
  WARPMAT_EACH_LANE {
    const auto codes = load<uint32_t>(source, lane);
    store<uint32_t>(result, lane, power_to_bf16(codes >> 8 & 0xff) << 16 | power_to_bf16(codes & 0xff));
  }
}

/// cvt.pack: a and b, each clamped to `bits` bits, above the low bits of c. If a and b fill the word, there is no c.
template <int bits, bool is_signed>
constexpr uint32_t clamp_to(int32_t x) {
  constexpr int32_t lowest = is_signed ? -(1 << (bits - 1)) : 0, highest = is_signed ? (1 << (bits - 1)) - 1 : (1 << bits) - 1;
  return static_cast<uint32_t>(std::clamp(x, lowest, highest)) & ((1u << bits) - 1);
}

template <int bits, bool is_signed>
constexpr uint32_t pack_integers(int32_t a, int32_t b, uint32_t c) {
  return c << (2 * bits) | clamp_to<bits, is_signed>(a) << bits | clamp_to<bits, is_signed>(b);
}

template <bool is_signed>
constexpr uint32_t pack_halves(int32_t a, int32_t b) {
  return clamp_to<16, is_signed>(a) << 16 | clamp_to<16, is_signed>(b);
}

constexpr Kernel convert_packed_table[] = {
    {"cvt.pair.f32", pair_of_floats},
    {"cvt.pair.f16x2", pair_of_halves<F16>},
    {"cvt.pair.bf16x2", pair_of_halves<Bf16>},
    {"cvt.rs.pair.f32", pair_of_floats_stochastic},
    {"cvt.rs.quad.f32", quad_of_floats_stochastic},
    {"cvt.f16x2.pair", halves_of_pair},
    {"cvt.power.f32", powers_of_floats},
    {"cvt.power.bf16x2", powers_of_halves},
    {"cvt.bf16x2.power", halves_of_powers},
    {"cvt.pack.u16", each_lane<pack_halves<false>>},
    {"cvt.pack.s16", each_lane<pack_halves<true>>},
    {"cvt.pack.u8", each_lane<pack_integers<8, false>>},
    {"cvt.pack.s8", each_lane<pack_integers<8, true>>},
    {"cvt.pack.u4", each_lane<pack_integers<4, false>>},
    {"cvt.pack.s4", each_lane<pack_integers<4, true>>},
    {"cvt.pack.u2", each_lane<pack_integers<2, false>>},
    {"cvt.pack.s2", each_lane<pack_integers<2, true>>},
};

std::span<const Kernel> packed_conversion_kernels_here() {
  return convert_packed_table;
}

}  // namespace
}  // namespace warpmat::scalar::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace warpmat::scalar {

HWY_EXPORT(packed_conversion_kernels_here);

std::span<const Kernel> packed_conversion_kernels() {
  return WARPMAT_KERNEL(packed_conversion_kernels_here)();
}

}  // namespace warpmat::scalar
#endif
