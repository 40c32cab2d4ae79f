#pragma once

#include <warpmat/assembler.h>
#include <warpmat/assembler/sums.h>

namespace warpmat::code {

/// What machine code says in place of the rule, by which `fused` was found. Notes the sums where they differ, and as doubts those about
/// which it does not say enough.
FusedSums fused_by_code(const Sums& sums, ProgramDraft& draft, const AssemblerDecisions& decisions, FusedSums fused);

}  // namespace warpmat::code
