#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <warpmat/execute/listed_warps.h>
#include <warpmat/instruction.h>
#include <warpmat/ir/code.h>
#include <warpmat/tables/capacity.h>

namespace warpmat::machine {

/// A statement's operands as lists of registers, and the memory that it addresses.
struct MatrixOperands {
  OperandViews views;
  BatchMemory memory;
};

/// Where a matrix instruction of a list finds its operands: the same in each call for a warp.
struct ListedMatrix {
  std::array<std::uint32_t*, capacity::form_words> pointers;  ///< to registers; `operands` refers to them
  MatrixOperands operands;
  const std::uint8_t* registers = nullptr;  ///< of the warp for which they were found; nullptr: not yet

  bool holds_for(const std::uint8_t* of_warp, std::span<const std::uint8_t> shared) const {
    return registers == of_warp && operands.memory.shared == shared.data() && operands.memory.shared_bytes == shared.size();
  }
};

/// Those of a list's program.
class ListedMatrices {
 public:
  explicit ListedMatrices(const code::Program& program);

  /// `operation` is a matrix instruction.
  ListedMatrix& at(std::int32_t operation) { return *all_[static_cast<std::size_t>(operation)]; }

 private:
  std::vector<std::unique_ptr<ListedMatrix>> all_;  ///< by operation
};

}  // namespace warpmat::machine
