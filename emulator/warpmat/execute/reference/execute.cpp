#include <warpmat/execute/reference/execute_with.h>

namespace warpmat::inline v0_1 {

void execute(const Form& form, const Lowering& lowering, const Arguments& arguments, const ExecutionOptions& options) {
  PlainArithmetic arithmetic;
  execute_with(arithmetic, form, lowering, arguments, options);
}

}  // namespace warpmat::inline v0_1
