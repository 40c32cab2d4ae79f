#pragma once

#include <warpmat/execute/reference/execute.h>
#include <warpmat/execute/reference/float.h>
#include <warpmat/execute/reference/integer.h>

namespace warpmat {

/// execute() of execute.h over a class derived from ReferenceArithmetic, which computes each result. Moves have no arithmetic.
template <typename Arithmetic>
void execute_with(Arithmetic& arithmetic, const Form& form, const Lowering& lowering, const Batch& batch, const ExecutionOptions& options) {
  switch (lowering.semantics) {
    case Semantics::ldmatrix: return execute_ldmatrix(form, lowering, batch);
    case Semantics::stmatrix: return execute_stmatrix(form, batch);
    case Semantics::movmatrix: return execute_movmatrix(form, batch);
    case Semantics::wmma_load: return execute_wmma_load(form, batch);
    case Semantics::wmma_store: return execute_wmma_store(form, batch);
    case Semantics::dot: return execute_dot(arithmetic, form, lowering, batch, options);
    case Semantics::split_dot: return execute_split_dot(arithmetic, form, lowering, batch, options);
    case Semantics::grouped_dot: return execute_grouped_dot(arithmetic, form, lowering, batch, options);
    case Semantics::f64_chain: return execute_f64_chain(arithmetic, form, lowering, batch, options);
    case Semantics::m8n8k4_dot: return execute_m8n8k4_dot(arithmetic, form, lowering, batch);
    case Semantics::m8n8k4_fma: return execute_m8n8k4_fma(arithmetic, form, batch);
    case Semantics::integer_dot: return execute_integer_dot(arithmetic, form, lowering, batch, options);
    case Semantics::bit_dot: return execute_bit_dot(arithmetic, form, lowering, batch, options);
  }
}

}  // namespace warpmat
