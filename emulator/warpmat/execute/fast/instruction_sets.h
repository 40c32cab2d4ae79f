#pragma once

#include <string_view>
#include <vector>

namespace warpmat {

// Which kernels are called: to test and measure those of every instruction set. The choice is that of this library in this process, and
// leaves other users of Highway alone. Do not change it while another thread executes.

/// The instruction sets that this CPU has and kernels exist for, best first: "AVX-512", "AVX2", "SSE4". Empty where none are.
std::vector<std::string_view> instruction_sets();

/// From now on kernels of that instruction set are called. Throws std::invalid_argument for a name that is not one of instruction_sets().
void use_instruction_set(std::string_view name);

/// From now on the best kernels are called, as at the start.
void use_best_instruction_set();

}  // namespace warpmat
