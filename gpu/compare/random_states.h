#pragma once

#include "gpu/runners/runner.h"

namespace warpmat {

/// Warps of random bits for any program. Registers that a matrix instruction reads before any statement writes them hold operands of its
/// operand classes, another class in each warp. Registers that are initially row addresses point to rows of 16 bytes, a different row for
/// each lane if there are enough; the memory then has at least 1024 bytes. A warp depends only on `seed` and its number.
WarpStates random_states(const Program& program, std::size_t warps, std::uint64_t seed, std::size_t at_least_shared_bytes,
                         std::uint32_t shared_base);

/// The registers that some statement uses as an address before any statement writes them.
std::vector<const NamedRegister*> address_inputs(const Program& program);

}  // namespace warpmat
