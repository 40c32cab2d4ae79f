#pragma once

#include <cstdint>

#include "gpu/cases/kernel_program.h"

namespace warpmat {

/// Kernel `index` of `seed` with products of one warpgroup, for sm_90a: up to `max_units` units, each a group or two of products of random
/// forms with random descriptors and registers of A, that add to what earlier ones left or begin anew; moves between accumulators and
/// registers of A; stores of results into the shared memory that later products read. As with random_kernel, the ISA defines every byte of
/// what they leave.
KernelProgram random_warpgroup_kernel(std::uint64_t seed, std::uint64_t index, int max_units = 8);

}  // namespace warpmat
