#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <warpmat/c.h>

#include "workload.h"

namespace warpmat {

/// The first warps of a workload as a simulator keeps them: an array of registers for each thread, a memory for each warp. They are
/// executed one warp a call through the C interface.
class ThreadMajorWarps {
 public:
  static constexpr std::size_t warps = 4;          ///< few enough that their registers stay in the first cache
  static constexpr std::size_t thread_words = 64;  ///< registers of a thread

  explicit ThreadMajorWarps(const Workload& workload);

  /// Executes the instruction on one warp, as a simulator would: the call is put together anew. Throws std::runtime_error.
  void execute(std::size_t warp);

 private:
  /// Gives an operand the next registers, and these its words; an immediate has its numbers.
  void place(const Operand& operand, const BatchOperand& from);

  const warpmat_instruction* instruction_;
  WarpStates states_;
  std::vector<std::uint32_t> registers_;  ///< [warps][lanes][thread_words]
  std::array<std::uint16_t, thread_words> numbers_;
  std::vector<std::vector<std::uint32_t>> immediates_;  ///< of each operand that is one
  std::size_t next_ = 0;                                ///< the first register that no operand has
  std::vector<warpmat_registers> operands_;
  std::vector<std::size_t> strides_;  ///< by operand: words from warp to warp
};

}  // namespace warpmat
