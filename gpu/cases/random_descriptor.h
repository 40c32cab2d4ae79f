#pragma once

#include <cstdint>

#include <warpmat/tables/wgmma_layout.h>

#include "gpu/cases/random.h"

namespace warpmat {

/// The 64 bits of a descriptor whose matrix lies within `memory_bytes` bytes, a multiple of 1024 up to 2^17; its start address counts from
/// their beginning, which is a multiple of 1024. In a third of all cases the matrix is compact, as kernels have it; in the others offsets
/// are any that the memory has room for, also such that elements share bytes, with any base offset. Fields that the matrix has no use for
/// and bits that no field has are random.
std::uint64_t random_descriptor(const MatrixLines& matrix, std::uint32_t memory_bytes, Random& random);

}  // namespace warpmat
