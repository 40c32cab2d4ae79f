#pragma once

#include <string>

#include <warpmat/matrices.h>
#include <warpmat/program.h>

namespace warpmat {

/// The origin of wrong values in the registers of a statement's `operand`, compared with `expected` (rounded to `format`). For each
/// ldmatrix or ld.shared that loaded some of them, it has a line for some of the wrong rows: the lane and its address, the element at that
/// address by the variable's rows and columns, and the address that holds the expected bytes. Empty if no such statement loaded a wrong
/// element.
std::string describe_origin(const Warp& warp, const Statement& statement, const Operand& operand, Format format,
                            const numbers::Matrix& expected);

}  // namespace warpmat
