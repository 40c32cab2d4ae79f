#pragma once

#include <cstddef>
#include <cstdint>

#include <warpmat/execute/batch.h>
#include <warpmat/execute/fast/fast.h>

namespace warpmat {

/// One warp's registers and memory for ldmatrix or stmatrix.
struct ThreadMove {
  std::uint32_t* lane_0;  ///< the registers r of lane 0
  std::ptrdiff_t lane_stride;
  const std::uint32_t* addresses;  ///< p of lane 0
  std::ptrdiff_t address_stride;
  std::uint8_t* memory;  ///< at address `base`
  std::uint32_t base, offset;
  std::uint32_t last_position;  ///< of a row, in bytes
};

/// ldmatrix or stmatrix of 8x8 matrices of 16-bit elements on warps whose registers r lie side by side in each lane, without copying them
/// to where other kernels read and write them. Row i of a matrix is a word of each of the lanes 4i to 4i + 3, so that rows i of four
/// matrices, as a 4x4 matrix of words, are the transposed registers of these lanes. Executes warps in their order and returns how many:
/// fewer than all if it declines the next one, of which it has changed nothing. It declines other elements, other places of registers,
/// addresses that are wrong, and registers in the memory. That must be bytes which addresses of 32 bits reach.
std::size_t fast_thread_moves(const MovePlan& plan, const BatchDestination& r, const BatchDestination& p, const BatchMemory& memory,
                              std::size_t warps);

}  // namespace warpmat
