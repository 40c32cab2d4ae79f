#pragma once

#include <warpmat/ptx/program/sums.h>

namespace warpmat::code {

/// The sums that take a product in by the rule of docs/assembler.md.
FusedSums fused_by_rule(const Sums& sums, const ProgramDraft& draft);

/// Notes the products that have a sum and whose contraction is assumed (Program::contraction_assumed).
void note_assumed_sums(const Sums& sums, ProgramDraft& draft);

}  // namespace warpmat::code
