#pragma once

#include <warpmat/ptx/program/function_resolver.h>

namespace warpmat::code {

/// Unrolls loops as ptxas does, where that changes what is folded or fused: loops of one block that count up or down by one, with products,
/// sums or signs of floating point.
///
/// Where ptxas does not know the number of rounds, and the block has at most 21 operations, it makes groups: four rounds as long as more
/// than three are left, then two if more than one are, then single rounds. A known number of rounds becomes as many copies, up to
/// 736 operations.
/// Not unrolled are loops with `.pragma "nounroll"`, and those with a vote whose number of rounds may differ between the lanes of a warp.
/// docs/assembler.md has how that was found, and which loops are left out.
///
/// Before constants are folded. Values, and the order of memory accesses of a lane, stay as they are.
void unroll(DraftFunction& function, ProgramDraft& draft);

}  // namespace warpmat::code
