#pragma once

#include <string_view>
#include <vector>

namespace warpmat {

// Selects the instruction set of the kernels, to test and measure each. The choice applies to this library in this process; other users of
// Highway are unaffected. Do not change it while another thread executes.

/// The instruction sets of this CPU for which kernels exist, best first: "AVX-512", "AVX2", "SSE4". Empty if there is none.
std::vector<std::string_view> instruction_sets();

/// Selects kernels of that instruction set for all later calls. Throws std::invalid_argument for a name outside instruction_sets().
void use_instruction_set(std::string_view name);

/// Selects the best kernels for all later calls; this is the initial state.
void use_best_instruction_set();

}  // namespace warpmat
