#pragma once

#include <warpmat/ptx/program/function_resolver.h>

namespace warpmat::code {

/// Gives each sum that ptxas moves behind a loop in groups (unrolling.h) products of its own, as ptxas computes them again there: a sum
/// before the loop whose result neither the loop nor a statement that stays before it needs, and whose operands may wait: they are needed
/// behind it anyway, were written long before, or can be computed again. Such a product has no other use, so it is fused. The sums stay
/// where they are.
void separate_sunk_sums(DraftFunction& function, ProgramDraft& draft);

}  // namespace warpmat::code
