#pragma once

#include <warpmat/assembler/sums.h>

namespace warpmat::code {

/// The sums that take a product in by the rule of docs/reference/assembler.md.
FusedSums fused_by_rule(const Sums& sums, const ProgramDraft& draft);

/// Notes the products about whose sums ptxas may decide otherwise, as doubts.
void note_doubted_sums(const Sums& sums, ProgramDraft& draft);

}  // namespace warpmat::code
