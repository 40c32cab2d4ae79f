#pragma once

#include <warpmat/ptx/program/function_resolver.h>

namespace warpmat::code {

/// Does to products and sums without a rounding modifier what ptxas does unless it is told --fmad=false: a mul is fused into each add and
/// sub that uses it, if all that use it are add or sub (or neg before those) without a rounding modifier, of the same type, both with .ftz
/// or both without, in the same basic block, without guards. Of two such products in one add, the first operand is fused. Rule read from
/// ptxas 13.0's code for sm_80, sm_90 and sm_120 and held against an H200 for f32; for f64, f16x2 and bf16x2 it is assumed. Uses by
/// statements whose result nobody needs do not count; a product that is added to itself is not fused (both assumed).
///
/// The adds that became part of an fma are noted in Program::contracted.
void contract(DraftFunction& function, ProgramDraft& draft);

}  // namespace warpmat::code
