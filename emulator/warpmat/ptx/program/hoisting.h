#pragma once

#include <warpmat/ptx/program/draft.h>

namespace warpmat::code {

/// Moves sums that no round of a loop changes in front of it, with the products that they alone use, as ptxas does before it fuses: of
/// loops of one block that unroll() left as they are.
void hoist_sums(DraftFunction& function);

}  // namespace warpmat::code
