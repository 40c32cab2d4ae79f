#include <warpmat/execute/reference/execute.h>

namespace warpmat {

void execute(const Form& form, const Lowering& lowering, const Arguments& arguments, const ExecutionOptions& options) {
  switch (lowering.semantics) {
    case Semantics::ldmatrix: return execute_ldmatrix(form, lowering, arguments, options);
    case Semantics::stmatrix: return execute_stmatrix(form, lowering, arguments, options);
    case Semantics::movmatrix: return execute_movmatrix(form, lowering, arguments, options);
    case Semantics::wmma_load: return execute_wmma_load(form, lowering, arguments, options);
    case Semantics::wmma_store: return execute_wmma_store(form, lowering, arguments, options);
    case Semantics::dot: return execute_dot(form, lowering, arguments, options);
    case Semantics::split_dot: return execute_split_dot(form, lowering, arguments, options);
    case Semantics::grouped_dot: return execute_grouped_dot(form, lowering, arguments, options);
    case Semantics::f64_chain: return execute_f64_chain(form, lowering, arguments, options);
    case Semantics::m8n8k4_dot: return execute_m8n8k4_dot(form, lowering, arguments, options);
    case Semantics::m8n8k4_fma: return execute_m8n8k4_fma(form, lowering, arguments, options);
    case Semantics::integer_dot: return execute_integer_dot(form, lowering, arguments, options);
    case Semantics::bit_dot: return execute_bit_dot(form, lowering, arguments, options);
  }
}

}  // namespace warpmat
