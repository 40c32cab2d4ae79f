#pragma once

#include <array>
#include <cstddef>

#include <warpmat/execute/operands/batch.h>
#include <warpmat/formats.h>
#include <warpmat/instruction.h>
#include <warpmat/tables/capacity.h>

namespace warpmat {

/// The scale factors of one row of A (or column of B): one, or one for each group of 16 stored products.
using Scales = std::array<Value, capacity::scale_factors>;

/// The matrix number of a scale fragment that {byte-id, thread-id} select. Throws Trap for ids that are undefined or differ between lanes.
int selected_scales(const Form& form, const Batch& batch, OperandName ids_name);

/// The place of entry `i` of `count` of the scale factors of row `line` of A or column `line` of B.
Element scale_element(const Form& form, OperandName scale_name, int matrix, int line, std::size_t i, std::size_t count);

/// The scale factors of row `line` of A or column `line` of B, repeated to `count` entries.
Scales read_scales(const Form& form, const Batch& batch, OperandName scale_name, int matrix, int line, std::size_t count);

}  // namespace warpmat
