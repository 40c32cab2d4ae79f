#pragma once

#include <warpmat/ptx/program/function_resolver.h>

namespace warpmat::code {

/// Makes a move of neg of neg, as ptxas does: f32, f64, f16, f16x2 and bf16, the inner one without a guard, neither with .ftz, also behind
/// moves and in another block. So a NaN keeps its payload, which neg alone does not. Of .bf16x2 both remain.
void remove_double_signs(DraftFunction& function, ProgramDraft& draft);

}  // namespace warpmat::code
