#pragma once

#include <string>

#include <warpmat/matrices/numbers.h>
#include <warpmat/ptx/run.h>

namespace warpmat {

/// Where the registers of a statement's `operand` were loaded from, where what they hold is not `expected` (rounded to `format`): for each
/// ldmatrix or ld.shared that brought some of them, a line for some of the wrong rows: the lane and its address, what lies there by the
/// variable's rows and columns, and where the expected bytes lie now. Empty where no such statement brought a wrong element.
std::string describe_origin(const Warp& warp, const Statement& statement, const Operand& operand, Format format,
                            const numbers::Matrix& expected);

}  // namespace warpmat
