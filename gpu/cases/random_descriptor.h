#pragma once

#include <cstdint>

#include <warpmat/wgmma.h>

#include "gpu/cases/random.h"

namespace warpmat {

/// The 64 bits of a descriptor whose matrix is within `memory_bytes` bytes, a multiple of 1024 up to 2^17. Its start address is relative to
/// their beginning, a multiple of 1024. In a third of all cases the matrix is compact, as in kernels. In the others offsets are any that
/// keep the matrix in memory, also if elements share bytes, with any base offset. Unused fields, and bits outside all fields, are random.
std::uint64_t random_descriptor(const MatrixLines& matrix, std::uint32_t memory_bytes, Random& random);

}  // namespace warpmat
