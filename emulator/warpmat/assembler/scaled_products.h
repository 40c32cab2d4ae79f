#pragma once

#include <warpmat/assembler.h>
#include <warpmat/lower/context.h>

namespace warpmat::code {

/// Makes one product with one rounding of a product of f32 without a rounding modifier and the mul by 1/8, 1/4, 1/2, 2, 4 or 8 that alone
/// reads it: FMUL has a field for such a scale. The inner product has no guard and no .sat, and may end a div.approx or div.full; the mul
/// by the power may have both, .rn and .ftz, and stand in another block. Neither is fused with a sum: this follows contract(). A neg or abs
/// between the two forbids it. `decisions` say which instructions have a scale, and go before this.
/// Source: machine code of ptxas 13.0, and an H200 (docs/reference/assembler.md).
void scale_products(DraftFunction& function, ProgramDraft& draft, const AssemblerDecisions* decisions);

}  // namespace warpmat::code
