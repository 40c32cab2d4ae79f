// Kernels of integer arithmetic, compiled once for each instruction set.

#include <warpmat/scalar/integer.h>
#include <warpmat/scalar/kernel.h>
#include <warpmat/scalar/kernels.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "warpmat/scalar/integer.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <warpmat/scalar/lanes-inl.h>

HWY_BEFORE_NAMESPACE();
namespace warpmat::scalar::HWY_NAMESPACE {
namespace {

using std::int16_t, std::int32_t, std::int64_t, std::int8_t, std::uint16_t, std::uint32_t, std::uint64_t, std::uint8_t;

/// CC.CF as 0 or 1 in each lane: the last source of addc, subc and madc.
HWY_INLINE uint32_t carry_in(const void* const* sources, int last, const Modifiers& m) {
  return m.carry_in ? *static_cast<const uint32_t*>(sources[last]) : 0;
}

/// results[0] = x + y + carry, results[1] is the carry out; `sources_of(lane)` returns x and y.
template <typename T, typename Sources>
HWY_INLINE void add_with_carry(void* const* results, uint32_t before, bool carry_out, Sources sources_of) {
  alignas(64) uint32_t out[32];
  WARPMAT_EACH_LANE {
    const auto [x, y] = sources_of(lane);
    const T partial = static_cast<T>(x + y);
    const T sum = static_cast<T>(partial + (before >> lane & 1));
    out[lane] = static_cast<uint32_t>(partial < x) | static_cast<uint32_t>(sum < partial);
    store<T>(results[0], lane, sum);
  }
  if (carry_out) *static_cast<uint32_t*>(results[1]) = mask_of([&](int lane) HWY_ATTR { return out[lane]; });
}

template <typename T>
struct Terms {
  T x, y;
};

template <typename T>
void add_carry(void* const* results, const void* const* sources, const Modifiers& m) {
  add_with_carry<T>(results, carry_in(sources, 2, m), m.carry_out, [&](int lane) HWY_ATTR {
    return Terms<T>{load<T>(sources[0], lane), load<T>(sources[1], lane)};
  });
}

template <typename T, T (*product)(T, T)>
void multiply_add_carry(void* const* results, const void* const* sources, const Modifiers& m) {
  using U = Unsigned<T>;
  add_with_carry<U>(results, carry_in(sources, 3, m), m.carry_out, [&](int lane) HWY_ATTR {
    return Terms<U>{static_cast<U>(product(load<T>(sources[0], lane), load<T>(sources[1], lane))), load<U>(sources[2], lane)};
  });
}

/// a - b is a + ~b + 1. CC.CF is 1 if there is no borrow (docs/reference/numerics.md, "Scalar instructions").
template <typename T>
void subtract_borrow(void* const* results, const void* const* sources, const Modifiers& m) {
  const uint32_t before = m.carry_in ? carry_in(sources, 2, m) : ~uint32_t{0};
  add_with_carry<T>(results, before, m.carry_out, [&](int lane) HWY_ATTR {
    return Terms<T>{load<T>(sources[0], lane), static_cast<T>(~load<T>(sources[1], lane))};
  });
}

constexpr Kernel integer_table[] = {
    {"add.b16", each_lane<add<uint16_t>>},
    {"add.b32", each_lane<add<uint32_t>>},
    {"add.b64", each_lane<add<uint64_t>>},
    {"add.sat.s32", each_lane<add_saturating>},
    {"add.b16x2", each_lane<on_halves<uint16_t, add<uint16_t>>>},
    {"sub.b16", each_lane<subtract<uint16_t>>},
    {"sub.b32", each_lane<subtract<uint32_t>>},
    {"sub.b64", each_lane<subtract<uint64_t>>},
    {"sub.sat.s32", each_lane<subtract_saturating>},
    {"mul.lo.b16", each_lane<multiply_low<uint16_t>>},
    {"mul.lo.b32", each_lane<multiply_low<uint32_t>>},
    {"mul.lo.b64", each_lane<multiply_low<uint64_t>>},
    {"mul.hi.u16", each_lane<multiply_high<uint16_t>>},
    {"mul.hi.s16", each_lane<multiply_high<int16_t>>},
    {"mul.hi.u32", each_lane<multiply_high<uint32_t>>},
    {"mul.hi.s32", each_lane<multiply_high<int32_t>>},
    {"mul.hi.u64", each_lane<multiply_high<uint64_t>>},
    {"mul.hi.s64", each_lane<multiply_high<int64_t>>},
    {"mul.wide.u16", each_lane<multiply_wide<uint16_t>>},
    {"mul.wide.s16", each_lane<multiply_wide<int16_t>>},
    {"mul.wide.u32", each_lane<multiply_wide<uint32_t>>},
    {"mul.wide.s32", each_lane<multiply_wide<int32_t>>},
    {"mad.lo.b16", each_lane<multiply_add_low<uint16_t>>},
    {"mad.lo.b32", each_lane<multiply_add_low<uint32_t>>},
    {"mad.lo.b64", each_lane<multiply_add_low<uint64_t>>},
    {"mad.hi.u16", each_lane<multiply_add_high<uint16_t>>},
    {"mad.hi.s16", each_lane<multiply_add_high<int16_t>>},
    {"mad.hi.u32", each_lane<multiply_add_high<uint32_t>>},
    {"mad.hi.s32", each_lane<multiply_add_high<int32_t>>},
    {"mad.hi.u64", each_lane<multiply_add_high<uint64_t>>},
    {"mad.hi.s64", each_lane<multiply_add_high<int64_t>>},
    {"mad.hi.sat.s32", each_lane<multiply_add_high_saturating>},
    {"mad.wide.u16", each_lane<multiply_add_wide<uint16_t>>},
    {"mad.wide.s16", each_lane<multiply_add_wide<int16_t>>},
    {"mad.wide.u32", each_lane<multiply_add_wide<uint32_t>>},
    {"mad.wide.s32", each_lane<multiply_add_wide<int32_t>>},
    {"mul24.lo.u32", each_lane<multiply_24_low<uint32_t>>},
    {"mul24.lo.s32", each_lane<multiply_24_low<int32_t>>},
    {"mul24.hi.u32", each_lane<multiply_24_high<uint32_t>>},
    {"mul24.hi.s32", each_lane<multiply_24_high<int32_t>>},
    {"mad24.lo.u32", each_lane<multiply_add_24_low<uint32_t>>},
    {"mad24.lo.s32", each_lane<multiply_add_24_low<int32_t>>},
    {"mad24.hi.u32", each_lane<multiply_add_24_high<uint32_t>>},
    {"mad24.hi.s32", each_lane<multiply_add_24_high<int32_t>>},
    {"mad24.hi.sat.s32", each_lane<multiply_add_24_high_saturating>},
    {"addc.b32", add_carry<uint32_t>},
    {"addc.b64", add_carry<uint64_t>},
    {"subc.b32", subtract_borrow<uint32_t>},
    {"subc.b64", subtract_borrow<uint64_t>},
    {"madc.lo.b32", multiply_add_carry<uint32_t, multiply_low<uint32_t>>},
    {"madc.lo.b64", multiply_add_carry<uint64_t, multiply_low<uint64_t>>},
    {"madc.hi.u32", multiply_add_carry<uint32_t, multiply_high<uint32_t>>},
    {"madc.hi.s32", multiply_add_carry<int32_t, multiply_high<int32_t>>},
    {"madc.hi.u64", multiply_add_carry<uint64_t, multiply_high<uint64_t>>},
    {"madc.hi.s64", multiply_add_carry<int64_t, multiply_high<int64_t>>},
    {"abs.s16", each_lane<absolute<int16_t>>},
    {"abs.s32", each_lane<absolute<int32_t>>},
    {"abs.s64", each_lane<absolute<int64_t>>},
    {"neg.b16", each_lane<negate<uint16_t>>},
    {"neg.b32", each_lane<negate<uint32_t>>},
    {"neg.b64", each_lane<negate<uint64_t>>},
    {"sad.u16", each_lane<add_absolute_difference<uint16_t>>},
    {"sad.s16", each_lane<add_absolute_difference<int16_t>>},
    {"sad.u32", each_lane<add_absolute_difference<uint32_t>>},
    {"sad.s32", each_lane<add_absolute_difference<int32_t>>},
    {"sad.u64", each_lane<add_absolute_difference<uint64_t>>},
    {"sad.s64", each_lane<add_absolute_difference<int64_t>>},
    {"div.u16", each_lane<divide<uint16_t>>},
    {"div.s16", each_lane<divide<int16_t>>},
    {"div.u32", each_lane<divide<uint32_t>>},
    {"div.s32", each_lane<divide<int32_t>>},
    {"div.u64", each_lane<divide<uint64_t>>},
    {"div.s64", each_lane<divide<int64_t>>},
    {"rem.u16", each_lane<remainder<uint16_t>>},
    {"rem.s16", each_lane<remainder<int16_t>>},
    {"rem.u32", each_lane<remainder<uint32_t>>},
    {"rem.s32", each_lane<remainder<int32_t>>},
    {"rem.u64", each_lane<remainder<uint64_t>>},
    {"rem.s64", each_lane<remainder<int64_t>>},
    {"min.u16", each_lane<minimum<uint16_t>>},
    {"min.s16", each_lane<minimum<int16_t>>},
    {"min.u32", each_lane<minimum<uint32_t>>},
    {"min.s32", each_lane<minimum<int32_t>>},
    {"min.u64", each_lane<minimum<uint64_t>>},
    {"min.s64", each_lane<minimum<int64_t>>},
    {"min.u16x2", each_lane<on_halves<uint16_t, minimum<uint16_t>>>},
    {"min.s16x2", each_lane<on_halves<int16_t, minimum<int16_t>>>},
    {"min.relu.s32", each_lane<minimum_relu<int32_t>>},
    {"min.relu.s16x2", each_lane<on_halves<int16_t, minimum_relu<int16_t>>>},
    {"max.u16", each_lane<maximum<uint16_t>>},
    {"max.s16", each_lane<maximum<int16_t>>},
    {"max.u32", each_lane<maximum<uint32_t>>},
    {"max.s32", each_lane<maximum<int32_t>>},
    {"max.u64", each_lane<maximum<uint64_t>>},
    {"max.s64", each_lane<maximum<int64_t>>},
    {"max.u16x2", each_lane<on_halves<uint16_t, maximum<uint16_t>>>},
    {"max.s16x2", each_lane<on_halves<int16_t, maximum<int16_t>>>},
    {"max.relu.s32", each_lane<maximum_relu<int32_t>>},
    {"max.relu.s16x2", each_lane<on_halves<int16_t, maximum_relu<int16_t>>>},
    {"dp4a.u32.u32", each_lane<dot_4<uint8_t, uint8_t>>},
    {"dp4a.u32.s32", each_lane<dot_4<uint8_t, int8_t>>},
    {"dp4a.s32.u32", each_lane<dot_4<int8_t, uint8_t>>},
    {"dp4a.s32.s32", each_lane<dot_4<int8_t, int8_t>>},
    {"dp2a.lo.u32.u32", each_lane<dot_2<uint16_t, uint8_t, 0>>},
    {"dp2a.lo.u32.s32", each_lane<dot_2<uint16_t, int8_t, 0>>},
    {"dp2a.lo.s32.u32", each_lane<dot_2<int16_t, uint8_t, 0>>},
    {"dp2a.lo.s32.s32", each_lane<dot_2<int16_t, int8_t, 0>>},
    {"dp2a.hi.u32.u32", each_lane<dot_2<uint16_t, uint8_t, 2>>},
    {"dp2a.hi.u32.s32", each_lane<dot_2<uint16_t, int8_t, 2>>},
    {"dp2a.hi.s32.u32", each_lane<dot_2<int16_t, uint8_t, 2>>},
    {"dp2a.hi.s32.s32", each_lane<dot_2<int16_t, int8_t, 2>>},
};

std::span<const Kernel> integer_kernels_here() {
  return integer_table;
}

}  // namespace
}  // namespace warpmat::scalar::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace warpmat::scalar {

HWY_EXPORT(integer_kernels_here);

std::span<const Kernel> integer_kernels() {
  return WARPMAT_KERNEL(integer_kernels_here)();
}

}  // namespace warpmat::scalar
#endif
