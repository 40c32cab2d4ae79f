#pragma once

#include <cstdint>
#include <span>

#include "gpu/runners/scalar_case.h"
#include "gpu/runners/scalar_runner.h"

namespace warpmat {

/// Elements `first` on of operand `operand` (0 for a) as bits of registers; for narrow types the bits above are arbitrary. They depend only
/// on the arguments. Predicates are bit 0.
void fill_operand(ValueKind kind, ScalarClass operand_class, std::size_t operand, std::uint64_t first, std::span<std::uint64_t> values);

/// The operands of a class for `cases`: `count` elements from element `first` on.
ScalarOperands draw_scalar_operands(std::span<const ScalarCase> cases, ScalarClass operand_class, std::uint64_t first, std::size_t count);

}  // namespace warpmat
