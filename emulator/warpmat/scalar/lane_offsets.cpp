// The addresses of a warp's access, compiled once for each instruction set.

#include <warpmat/scalar/lane_offsets.h>

#include <array>
#include <bit>
#include <cstddef>

#include <warpmat/numeric/kernels_target.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "warpmat/scalar/lane_offsets.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace warpmat::scalar::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr std::size_t lane_count = 32;

/// The sums of 64 bits; `offsets` are their low halves. Returns the high halves' bits.
HWY_INLINE std::uint32_t add_wide(const LaneAddresses& a, std::uint32_t* offsets) {
  const auto* const base = static_cast<const std::uint64_t*>(a.base);
  const std::uint64_t add = a.add;
  std::uint64_t all = 0;
  for (std::size_t lane = 0; lane < lane_count; ++lane) {
    const std::uint64_t sum = base[lane] + add;
    offsets[lane] = static_cast<std::uint32_t>(sum);
    all |= sum;
  }
  return static_cast<std::uint32_t>(all >> 32);
}

/// The pattern of the sums in[lane] + add.
template <class D>
HWY_INLINE LanePattern classify(D d, const LaneAddresses& a, const std::uint32_t* in, std::uint32_t add, std::uint32_t* offsets) {
  const auto first = hn::Set(d, in[std::countr_zero(a.lanes)] + add), added = hn::Set(d, add), last = hn::Set(d, a.last);
  const auto start = hn::Set(d, a.start), low_bits = hn::Set(d, a.bytes - 1);
  const auto step = hn::Set(d, a.element * static_cast<std::uint32_t>(hn::Lanes(d)));
  auto next = hn::Add(first, hn::Mul(hn::Iota(d, 0), hn::Set(d, a.element)));  // of a consecutive access
  auto bad = hn::Zero(d), different = hn::Zero(d), apart = hn::Zero(d);
  for (std::size_t lane = 0; lane < lane_count; lane += hn::Lanes(d)) {
    auto offset = hn::Add(hn::Load(d, in + lane), added);
    if (a.lanes != 0xffffffff) {
      alignas(64) std::array<std::uint32_t, lane_count> active;
      for (std::size_t i = 0; i < hn::Lanes(d); ++i) active[i] = 0 - (a.lanes >> (lane + i) & 1);
      offset = hn::IfThenElse(hn::MaskFromVec(hn::Load(d, active.data())), offset, first);
    }
    hn::Store(offset, d, offsets + lane);
    bad = hn::Or(bad, hn::Or(hn::Xor(hn::Max(offset, last), last), hn::And(hn::Add(offset, start), low_bits)));
    different = hn::Or(different, hn::Xor(offset, first));
    apart = hn::Or(apart, hn::Xor(offset, next));
    next = hn::Add(next, step);
  }
  const auto is_zero = [&](auto v) HWY_ATTR { return hn::AllTrue(d, hn::Eq(v, hn::Zero(d))); };
  if (HWY_UNLIKELY(!is_zero(bad))) return LanePattern::invalid;
  return is_zero(apart) ? LanePattern::consecutive : is_zero(different) ? LanePattern::same : LanePattern::scattered;
}

LanePattern lane_offsets(const LaneAddresses& a, std::uint32_t* offsets) {
  if (!a.wide)
    return classify(hn::ScalableTag<std::uint32_t>(), a, static_cast<const std::uint32_t*>(a.base), static_cast<std::uint32_t>(a.add),
                    offsets);
  alignas(64) std::array<std::uint32_t, lane_count> sums;
  if (const std::uint32_t high = add_wide(a, sums.data()); high != 0 && !a.wraps) {
    // only those of the lanes that access count
    const auto* const base = static_cast<const std::uint64_t*>(a.base);
    for (std::uint32_t rest = a.lanes; rest != 0; rest &= rest - 1)
      if ((base[std::countr_zero(rest)] + a.add) >> 32 != 0) return LanePattern::invalid;
  }
  // parts of the size in which the sums were stored
  return classify(hn::CappedTag<std::uint32_t, 8>(), a, sums.data(), 0, offsets);
}

}  // namespace
}  // namespace warpmat::scalar::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace warpmat::scalar {

HWY_EXPORT(lane_offsets);

LanePattern find_lane_offsets(const LaneAddresses& addresses, std::uint32_t* offsets) {
  return WARPMAT_KERNEL(lane_offsets)(addresses, offsets);
}

}  // namespace warpmat::scalar
#endif
