#pragma once

#include <cstdint>

#include "gpu/lab/kernels/kernel_program.h"

namespace warpmat {

/// Kernel `index` of `seed` with products of one warpgroup, for sm_90a, of up to `max_units` units. A unit is a group or two of products of
/// random forms, with random descriptors and registers of A, that accumulate or start anew. Other units are moves between accumulators and
/// registers of A, and stores of results into the shared memory that later products read. As with random_kernel, the ISA defines every
/// result byte.
KernelProgram random_warpgroup_kernel(std::uint64_t seed, std::uint64_t index, int max_units = 8);

}  // namespace warpmat
