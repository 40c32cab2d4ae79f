#include "gpu/lab/mutants/variant_runner.h"

#include <warpmat/execute/reference/execute.h>

#include "gpu/lab/rules/counting.h"
#include "gpu/lab/rules/deviating.h"

namespace warpmat {

void execute_variant(const VariedLowering& varied, const Batch& batch, Events* counts) {
  if (!varied.deviations().empty()) return execute_deviating(varied.form(), varied.lowering(), varied.deviations(), batch);
  if (counts != nullptr) return execute_counting(varied.form(), varied.lowering(), batch, ExecutionOptions{}, *counts);
  execute(varied.form(), varied.lowering(), batch, ExecutionOptions{});
}

}  // namespace warpmat
