// D = A · B + C with A and B of f16. Compiled once for each instruction set.

#include <warpmat/execute/fast/float_dot.h>
#include <warpmat/numeric/kernels_target.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "warpmat/execute/fast/f16_dot.cpp"
#include <hwy/foreach_target.h>

#include <warpmat/execute/fast/float_dot-inl.h>

HWY_BEFORE_NAMESPACE();
namespace warpmat::HWY_NAMESPACE {
namespace {

std::size_t f16_dot(const FloatPlan& plan, const Form& form, const Warps& warps) {
  return run_float_dot<16, false, false>(plan, form, warps);
}

bool f16_chain(const FloatPlan& plan, const Form& form, std::span<const Warps> chain) {
  return run_float_chain<16, false>(plan, form, chain);
}

std::size_t sparse_f16_dot(const FloatPlan& plan, const Form& form, const Warps& warps) {
  return run_float_dot<16, false, true>(plan, form, warps);
}

}  // namespace
}  // namespace warpmat::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace warpmat {

HWY_EXPORT(f16_dot);
HWY_EXPORT(f16_chain);
HWY_EXPORT(sparse_f16_dot);

std::size_t fast_f16_dot(const FloatPlan& plan, const Form& form, const Warps& warps) {
  return WARPMAT_KERNEL(f16_dot)(plan, form, warps);
}

bool fast_f16_chain(const FloatPlan& plan, const Form& form, std::span<const Warps> chain) {
  return WARPMAT_KERNEL(f16_chain)(plan, form, chain);
}

std::size_t fast_sparse_f16_dot(const FloatPlan& plan, const Form& form, const Warps& warps) {
  return WARPMAT_KERNEL(sparse_f16_dot)(plan, form, warps);
}

}  // namespace warpmat
#endif
