// D = A · B + C with A and B of 8, 6 or 4 bits, each in a byte. Compiled once for each instruction set.

#include <warpmat/execute/fast/float_dot.h>
#include <warpmat/numeric/kernels_target.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "warpmat/execute/fast/fp8_dot.cpp"
#include <hwy/foreach_target.h>

#include <warpmat/execute/fast/float_dot-inl.h>

HWY_BEFORE_NAMESPACE();
namespace warpmat::HWY_NAMESPACE {
namespace {

std::size_t fp8_dot(const FloatPlan& plan, const Form& form, const Warps& warps) {
  return run_float_dot<8, false, false>(plan, form, warps);
}

bool fp8_chain(const FloatPlan& plan, const Form& form, std::span<const Warps> chain) {
  return run_float_chain<8, false>(plan, form, chain);
}

std::size_t sparse_fp8_dot(const FloatPlan& plan, const Form& form, const Warps& warps) {
  return run_float_dot<8, false, true>(plan, form, warps);
}

}  // namespace
}  // namespace warpmat::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace warpmat {

HWY_EXPORT(fp8_dot);
HWY_EXPORT(fp8_chain);
HWY_EXPORT(sparse_fp8_dot);

std::size_t fast_fp8_dot(const FloatPlan& plan, const Form& form, const Warps& warps) {
  return WARPMAT_KERNEL(fp8_dot)(plan, form, warps);
}

bool fast_fp8_chain(const FloatPlan& plan, const Form& form, std::span<const Warps> chain) {
  return WARPMAT_KERNEL(fp8_chain)(plan, form, chain);
}

std::size_t fast_sparse_fp8_dot(const FloatPlan& plan, const Form& form, const Warps& warps) {
  return WARPMAT_KERNEL(sparse_fp8_dot)(plan, form, warps);
}

}  // namespace warpmat
#endif
