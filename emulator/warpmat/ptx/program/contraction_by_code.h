#pragma once

#include <vector>

#include <warpmat/program.h>
#include <warpmat/ptx/program/sums.h>

namespace warpmat::code {

/// What machine code says in place of the rule, by which `fused` was found. Notes the sums where they differ, and those about which it does
/// not say enough. `copies`: registers of sums that are fused for some of their readers (sum_copies.h).
FusedSums fused_by_code(const Sums& sums, ProgramDraft& draft, const std::vector<SumInCode>& code, const std::vector<Value>& copies,
                        FusedSums fused);

}  // namespace warpmat::code
