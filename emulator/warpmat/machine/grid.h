#pragma once

#include <warpmat/machine/launch_state.h>

namespace warpmat::machine {

/// Runs all blocks of a launch on `options.jobs` threads. Some operations have a visible order among blocks: atomics with a result, sums of
/// floating-point numbers, exch, cas, inc and dec, volatile, acquire and release accesses, and fences. Only the block that holds the
/// reservation executes these. It holds the reservation until it ends, or until it has executed so many of them that it may be waiting for
/// another block. The next block in the order of numbers then gets it. All other operations run in parallel; a program that has only these
/// needs no turns. So the result is the same for every number of threads, if blocks share memory only through such operations. Throws the
/// Trap of the first block in reservation order that traps.
LaunchResult run_grid(const LaunchState& launch);

}  // namespace warpmat::machine
