#pragma once

#include <warpmat/execute/arguments.h>
#include <warpmat/tables/deviation.h>
#include <warpmat/tables/lowering.h>

namespace warpmat {

/// execute() with rules turned: the same sequences, step by step, with what `deviations` say otherwise. Without any it gives the same bits
/// as execute(), which a test holds. Throws std::invalid_argument where deviations are not known: data movement, and block-scaled forms but
/// for zero_groups_aligned.
void execute_deviating(const Form& form, const Lowering& lowering, Deviations deviations, const Arguments& arguments);

}  // namespace warpmat
