#pragma once

#include <warpmat/ptx/program/function_resolver.h>

namespace warpmat::code {

/// Makes mma of fp8, where the hardware has no unit for fp8 (Semantics::split_dot), a product from zero and ordinary additions of C, as
/// ptxas does, if a mul or div writes a register of C: ptxas may fuse that with the addition (contraction.h).
void separate_matrix_sums(DraftFunction& function, ProgramDraft& draft);

}  // namespace warpmat::code
