#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <warpmat/c.h>

#include "workload.h"

namespace warpmat {

/// The first warps of a workload in a simulator's layout: an array of registers for each thread, a memory for each warp. They are executed
/// through the C interface, one warp per call.
class ThreadMajorWarps {
 public:
  static constexpr std::size_t warps = 4;          ///< few enough for their registers to stay in the L1 cache
  static constexpr std::size_t thread_words = 64;  ///< registers of a thread

  explicit ThreadMajorWarps(const Workload& workload);

  /// Executes the instruction on one warp and builds the call's structs each time, as a simulator would. Throws std::runtime_error.
  void execute(std::size_t warp);

 private:
  /// Assigns the next registers to an operand and fills them; an immediate has its numbers instead.
  void place(const Operand& operand, const ConstRegisterView& from);

  const warpmat_instruction* instruction_;
  WarpStates states_;
  std::vector<std::uint32_t> registers_;  ///< [warps][lanes][thread_words]
  std::array<std::uint16_t, thread_words> numbers_;
  std::vector<std::vector<std::uint32_t>> immediates_;  ///< of each operand that is one
  std::size_t next_ = 0;                                ///< the first unassigned register
  std::vector<warpmat_registers> operands_;
  std::vector<std::size_t> strides_;  ///< by operand: words from warp to warp
};

}  // namespace warpmat
