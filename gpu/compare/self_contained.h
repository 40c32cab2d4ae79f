#pragma once

#include <string>

#include "gpu/runners/runner.h"

namespace warpmat {

/// `program` with its initial state: PTX text that needs no input, for one warp. Leading statements fill shared memory and the registers
/// with those of `warp` in `initial`. Registers that are initially row addresses are computed from the address at which shared memory
/// begins when the text runs; here it was `shared_base`. The registers of `program` keep their names and final values.
std::string self_contained(const Program& program, const WarpStates& initial, std::size_t warp, std::uint32_t shared_base);

}  // namespace warpmat
