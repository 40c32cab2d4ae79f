#pragma once

#include <vector>

#include <warpmat/program.h>
#include <warpmat/ptx/program/function_resolver.h>

namespace warpmat::code {

/// Gives sums that ptxas computes twice, rounded and by an fma (SumInCode::fused_for), a copy for the statements that read the fma.
/// Returns the registers that the copies write.
std::vector<Value> copy_sums(DraftFunction& function, ProgramDraft& draft, const std::vector<SumInCode>& code);

}  // namespace warpmat::code
