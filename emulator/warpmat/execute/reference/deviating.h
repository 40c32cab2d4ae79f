#pragma once

#include <warpmat/execute/arguments.h>
#include <warpmat/tables/deviation.h>
#include <warpmat/tables/lowering.h>

namespace warpmat {

/// execute() with rules changed: the same sequences, step by step, with `deviations` applied. Without deviations it gives the same bits as
/// execute(); a test checks that. Throws std::invalid_argument for unsupported cases: data movement, and block-scaled forms with deviations
/// other than zero_groups_aligned.
void execute_deviating(const Form& form, const Lowering& lowering, Deviations deviations, const Arguments& arguments);

}  // namespace warpmat
