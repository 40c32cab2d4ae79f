#pragma once

#include <cstddef>
#include <vector>

#include <warpmat/execute/operands/batch.h>

#include "gpu/cases/cases.h"

namespace warpmat {

/// An instruction with the operands of many warps. Thread-safe.
class Workload {
 public:
  static constexpr std::size_t warps = 128;  ///< few enough for their registers to stay in the L2 cache

  Workload(const Form& form, const Target& target, const OperandClass& operand_class);

  const Instruction& instruction() const { return *program_.statements().front().matrix(); }

  /// A program of one statement, the instruction.
  const Program& program() const { return program_; }

  /// The registers and memories of the warps.
  const WarpStates& states() const { return states_; }

  /// The batch of all warps in `states`, a copy of states(). `states` and the workload must outlive it.
  Batch batch(WarpStates& states) const;

 private:
  Program program_;
  WarpStates states_;
  std::vector<std::vector<Register>> numbers_;  ///< by operand: immediates, the same for all warps
};

}  // namespace warpmat
