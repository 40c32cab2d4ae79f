#pragma once

#include <cstdint>
#include <span>

#include "gpu/runners/scalar_case.h"
#include "gpu/runners/scalar_runner.h"

namespace warpmat {

/// The numbers of elements `first` on of operand number `operand` (0 for a) as a register's bits; of narrow types the bits above are
/// arbitrary. They depend on the arguments and nothing else. Predicates are bit 0.
void fill_operand(ValueKind kind, ScalarClass operand_class, std::size_t operand, std::uint64_t first, std::span<std::uint64_t> values);

/// The operands of a class that `cases` read: `count` elements from element `first` on.
ScalarOperands draw_scalar_operands(std::span<const ScalarCase> cases, ScalarClass operand_class, std::uint64_t first, std::size_t count);

}  // namespace warpmat
