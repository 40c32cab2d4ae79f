#pragma once

#include <warpmat/execute/operands/batch.h>
#include <warpmat/explain.h>
#include <warpmat/instruction.h>

#include <optional>
#include <string>
#include <vector>

// What takes a Call, of a Batch: tests name the operands of matrix instructions.

namespace warpmat {

inline std::optional<std::string> problem(const Instruction& instruction, const Batch& batch, std::size_t warps = 1) {
  return instruction.problem(NamedCall(instruction.form(), batch).get(), warps);
}

inline std::vector<MemoryAccess> accesses(const Instruction& instruction, const Batch& batch, std::size_t warp = 0) {
  return accesses(instruction, NamedCall(instruction.form(), batch).get(), warp);
}

inline Explanation explain(const Instruction& instruction, const Batch& batch, const Element& element,
                           const ExecutionOptions& options = {}) {
  return explain(instruction, NamedCall(instruction.form(), batch).get(), element, options);
}

}  // namespace warpmat
