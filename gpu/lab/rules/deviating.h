#pragma once

#include <warpmat/execute/operands/batch.h>
#include <warpmat/forms.h>
#include <warpmat/instruction.h>

#include "gpu/models/deviation.h"

namespace warpmat {

/// execute() of the emulator's reference with the rules of `deviations` replaced; every other rule is the code that ships. Throws
/// std::invalid_argument for unsupported cases: data movement, and block-scaled forms with deviations other than zero_groups_aligned.
void execute_deviating(const Form& form, const Lowering& lowering, Deviations deviations, const Batch& batch);

}  // namespace warpmat
