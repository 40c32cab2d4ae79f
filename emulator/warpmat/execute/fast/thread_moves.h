#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <warpmat/execute/fast/lane_registers.h>
#include <warpmat/tables/lowering.h>

namespace warpmat {

/// ldmatrix or stmatrix of 8x8 matrices of 16-bit elements: what fast_thread_move needs to know of it.
struct ThreadMove {
  bool store = false;
  bool transposed = false;
  int matrices = 0;       ///< 1, 2 or 4; 0 where an instruction is another
  int address_lanes = 0;  ///< lanes whose addresses must be right
};

ThreadMove thread_move(const Form& form, const Lowering& lowering);

/// Executes it on one warp whose registers r lie side by side in each lane, without copying them to where kernels read and write them. Row
/// i of a matrix is a word of each of the lanes 4i to 4i + 3, so that rows i of four matrices, as a 4x4 matrix of words, are the transposed
/// registers of these lanes. Declines by false, having changed nothing: other places of registers, addresses that are wrong, registers in
/// the memory.
bool fast_thread_move(const ThreadMove& move, const LaneRegisters& r, const LaneRegisters& p, std::span<std::uint8_t> memory,
                      std::uint64_t base, std::uint64_t offset);

}  // namespace warpmat
