#include <warpmat/execute/fast/float_dot.h>

namespace warpmat {

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

bool fast_float_chain(const FloatPlan& plan, const Form& form, std::span<const Warps> chain) {
  const bool may_decline = plan.sparse || plan.scaled || (plan.padding_a | plan.padding_b) != 0;
  if (may_decline || plan.split) return false;
  switch (plan.container_bits) {
    case 8: return fast_fp8_chain(plan, form, chain);
    case 16: return plan.wide ? fast_bf16_chain(plan, form, chain) : fast_f16_chain(plan, form, chain);
    case 32: return fast_tf32_chain(plan, form, chain);
  }
  return false;
}

}  // namespace warpmat
