#pragma once

#include <cstdint>

#include <warpmat/ir/code.h>

namespace warpmat::code {

/// Finds consecutive products of one instruction among the operations from `first` on, which have their slots and convergence points:
/// Matrix::run and what is beside it. Where several have the same A or B, a kernel decodes it once.
void mark_product_runs(Program& program, std::int32_t first);

}  // namespace warpmat::code
