// Sums of two 16-bit products per word: VPMADDWD. Highway's own function orders the pairs differently on each CPU. Each kernel's file
// includes this once per instruction set, between HWY_BEFORE_NAMESPACE and HWY_AFTER_NAMESPACE.

#if defined(WARPMAT_NUMERIC_PAIR_PRODUCTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WARPMAT_NUMERIC_PAIR_PRODUCTS_INL_H_
#undef WARPMAT_NUMERIC_PAIR_PRODUCTS_INL_H_
#else
#define WARPMAT_NUMERIC_PAIR_PRODUCTS_INL_H_
#endif

#include <cstdint>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace warpmat::HWY_NAMESPACE {
namespace {

/// Returns sum + lower halves' product + upper halves' product for each word of a and b, signed, modulo 2^32. `d` is a tag of int32.
template <class D>
HWY_INLINE hwy::HWY_NAMESPACE::Vec<D> add_pair_products([[maybe_unused]] D d, hwy::HWY_NAMESPACE::Vec<D> sum, hwy::HWY_NAMESPACE::Vec<D> a,
                                                        hwy::HWY_NAMESPACE::Vec<D> b) {
  namespace hn = hwy::HWY_NAMESPACE;
#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR
  const hn::Repartition<std::int16_t, D> halves;
  auto other = hn::Zero(d);  // stays zero
  const auto total = hn::ReorderWidenMulAccumulate(d, hn::BitCast(halves, a), hn::BitCast(halves, b), sum, other);
  return hn::Add(total, other);
#elif HWY_ARCH_ARM_A64 && HWY_TARGET != HWY_SCALAR
  const hn::Repartition<std::int16_t, D> halves;
  const int16x8_t x = hn::BitCast(halves, a).raw, y = hn::BitCast(halves, b).raw;
  return hn::Add(sum, hn::Vec<D>{vpaddq_s32(vmull_s16(vget_low_s16(x), vget_low_s16(y)), vmull_high_s16(x, y))});
#else
  const auto lower = hn::Mul(hn::ShiftRight<16>(hn::ShiftLeft<16>(a)), hn::ShiftRight<16>(hn::ShiftLeft<16>(b)));
  return hn::Add(sum, hn::Add(lower, hn::Mul(hn::ShiftRight<16>(a), hn::ShiftRight<16>(b))));
#endif
}

}  // namespace
}  // namespace warpmat::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
