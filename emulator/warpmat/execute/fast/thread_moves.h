#pragma once

#include <cstddef>
#include <cstdint>

#include <warpmat/execute/fast/fast.h>
#include <warpmat/instruction.h>

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

/// ldmatrix or stmatrix of 8x8 matrices of 16-bit elements on thread-major registers r, without staging them for other kernels. Row i of a
/// matrix is a word of each of the lanes 4i to 4i + 3. So rows i of four matrices, as a 4x4 matrix of words, are the transposed registers
/// of these lanes. Executes warps in order and returns how many: fewer than all if it declines the next one, which is then unchanged. It
/// declines other elements, other register layouts, wrong addresses, and registers that overlap the memory. The memory must be bytes within
/// 32-bit addresses.
std::size_t fast_thread_moves(const MovePlan& plan, const RegisterView& r, const ConstRegisterView& p, const CallMemory& memory,
                              std::size_t warps);

}  // namespace warpmat
