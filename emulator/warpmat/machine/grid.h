#pragma once

#include <warpmat/machine/launch_state.h>

namespace warpmat::machine {

/// Runs all blocks of a launch on `options.jobs` threads. Operations whose order among blocks shows (atomics with a result, sums of
/// floating-point numbers, volatile, acquire and release accesses, fences) are executed by one block at a time, the one that has the turn:
/// it keeps the turn until it ends or has executed so many of them that it may be waiting for another block; then the next block in the
/// order of their numbers has it. All else runs at once. So the result is the same for every number of threads, as long as blocks share no
/// memory without such operations between. Throws the KernelTrap of the block that has it first in the order of turns.
LaunchResult run_grid(const LaunchState& launch);

}  // namespace warpmat::machine
