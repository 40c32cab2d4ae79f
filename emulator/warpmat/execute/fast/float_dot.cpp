#include <warpmat/execute/fast/float_dot.h>

namespace warpmat::inline v0_1 {

std::size_t fast_float_dot(const FloatPlan& plan, const Form& form, const Warps& warps) {
  switch (plan.container_bits) {
    case 8: return plan.sparse ? fast_sparse_fp8_dot(plan, form, warps) : fast_fp8_dot(plan, form, warps);
    case 16:
      if (plan.wide) return plan.sparse ? fast_sparse_bf16_dot(plan, form, warps) : fast_bf16_dot(plan, form, warps);
      return plan.sparse ? fast_sparse_f16_dot(plan, form, warps) : fast_f16_dot(plan, form, warps);
    case 32: return plan.sparse ? fast_sparse_tf32_dot(plan, form, warps) : fast_tf32_dot(plan, form, warps);
  }
  return 0;
}

}  // namespace warpmat::inline v0_1
