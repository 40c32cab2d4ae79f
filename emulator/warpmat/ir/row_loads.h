#pragma once

#include <cstdint>

#include <warpmat/ir/code.h>

namespace warpmat::code {

/// Finds the ldmatrix of the usual kind, whose kernel copies rows (row_load.h), among the operations from `first` on, which have their
/// slots: Matrix::kernel.
void mark_row_loads(Program& program, std::int32_t first);

}  // namespace warpmat::code
