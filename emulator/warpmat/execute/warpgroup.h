#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <warpmat/instruction.h>

namespace warpmat {

/// What is wrong with a call of wgmma beside single operands' words: A twice or not at all, memory, immediates that the form lacks.
std::optional<std::string> problem_of_warpgroup(const Instruction& instruction, const Call& call, std::size_t warps);

/// The same of the four warps from `first` on without memory: all that warpgroup_accesses needs of a call.
std::optional<std::string> problem_of_descriptors(const Instruction& instruction, const Call& call, std::size_t first);

/// Executes wgmma on each four warps in order, as if statement and wait followed each other. All memory and metadata are read before a
/// register is written. Throws Trap naming the warp: warps before it are executed. Allocates.
void execute_warpgroups(const Instruction& instruction, const Call& call, std::size_t warps, const ExecutionOptions& options);

/// What the four warps from `first` on read of shared memory: A warp by warp unless it is in registers, then B once. Of the call it reads
/// the descriptors and the immediates. Precondition: problem_of_descriptors is nothing.
std::vector<MemoryAccess> warpgroup_accesses(const Instruction& instruction, const Call& call, std::size_t first);

}  // namespace warpmat
