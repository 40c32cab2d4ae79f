#pragma once

#include <utility>

#include <warpmat/lower/definitions.h>

namespace warpmat::code {

/// Whether ptxas 13.0 may take what an operation reads, the operation and one of its sources, for the same in all lanes of a warp: made of
/// constants, loads of such addresses, special registers that a warp has, and of votes, reductions and broadcasts. Of each, machine code
/// for sm_90a had no shuffle.
bool may_be_common(const DraftFunction& function, const Program& program, const Constants& constants, const Definitions& definitions,
                   std::pair<int, Value> read);

}  // namespace warpmat::code
