#pragma once

#include <warpmat/ptx/program/function_resolver.h>

namespace warpmat::code {

/// Puts the constants of f64 instructions into the operand where ptxas has them: of two NaNs the second counts. Behind contraction.
void order_constants(DraftFunction& function, ProgramDraft& draft);

}  // namespace warpmat::code
