#include <warpmat/execute/reference/execute_with.h>

namespace warpmat {

void execute(const Form& form, const Lowering& lowering, const Batch& batch, const ExecutionOptions& options) {
  PlainArithmetic arithmetic;
  execute_with(arithmetic, form, lowering, batch, options);
}

}  // namespace warpmat
