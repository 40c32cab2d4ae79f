#pragma once

#include <warpmat/lower/context.h>

namespace warpmat::code {

/// Whether it is rcp or div .approx.ftz.f32, which may undo another reciprocal or a power.
bool may_undo(const DraftOperation& operation);
/// Whether it is rcp or ex2 .approx.ftz.f32.
bool may_be_undone(const DraftOperation& operation);

/// Removes reciprocals that ptxas removes, of `1 / __expf(x)` with -use_fast_math and the like, behind moves and in other blocks, too:
///   rcp of rcp, div by rcp    a move, a product
///   rcp of ex2, div by ex2    ex2 of the negative where nothing else needs the power, a product with it
/// All are .approx.ftz.f32, the inner one without a guard; others stay. So do both where the inner one is in a loop that the outer one is
/// not in, and another value may stand in its register. Source: machine code of ptxas 13.0.
void remove_reciprocals(DraftFunction& function, ProgramDraft& draft);

}  // namespace warpmat::code
