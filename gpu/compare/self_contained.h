#pragma once

#include <string>

#include "gpu/runners/runner.h"

namespace warpmat {

/// `program` with what it starts from: PTX text that needs no input, for one warp. In front of the statements others fill shared memory and
/// the registers with those of `warp` in `initial`; registers that begin as row addresses are computed from the address at which shared
/// memory begins where the text runs, which was `shared_base` here. The registers of `program` keep their names and end as they did.
std::string self_contained(const Program& program, const WarpStates& initial, std::size_t warp, std::uint32_t shared_base);

}  // namespace warpmat
