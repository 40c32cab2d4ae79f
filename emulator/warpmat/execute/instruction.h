#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <warpmat/execute/arguments.h>
#include <warpmat/execute/batch.h>
#include <warpmat/export.h>
#include <warpmat/tables/lowering.h>

namespace warpmat {

class FastPath;
class StagedWarp;

/// A form on a target, ready to execute: cheap to copy, immutable, usable from many threads.
class WARPMAT_API Instruction {
 public:
  /// Throws std::invalid_argument saying what would be right: opcode unknown, target unknown, or form not on that target.
  Instruction(std::string_view opcode, std::string_view target_name);
  /// Throws std::invalid_argument where `form` is not available for `target` and `version`, and where either is no copy of a row of its
  /// table. Keeps neither of the two objects.
  Instruction(const Form& form, const Target& target, PtxVersion version = newest_ptx);

  // Rows of the tables, which last until the process ends.
  const Form& form() const { return *form_; }
  const Target& target() const { return *target_; }
  const Lowering& lowering() const { return *lowering_; }

  /// Executes on one warp; problem(arguments) must be nothing. Throws OperandTrap, having changed nothing, where an address is wrong, and
  /// unless `options` ask for the hardware's behaviour, where the ISA leaves what the operands hold undefined: metadata, padding, ids, a
  /// selector. Does not allocate or lock unless it throws.
  void execute(const Arguments& arguments, const ExecutionOptions& options = {}) const;

  /// Executes the same instruction on many warps, first to last; see Batch. problem(batch, warps) must be nothing. Does not allocate or
  /// lock unless it throws or a callback does. Throws OperandTrap naming the warp: those before it are executed, it and those after it
  /// unchanged, but for rows that a RowMemory has taken before it refused one.
  void execute(const Batch& batch, std::size_t warps, const ExecutionOptions& options = {}) const;

  /// The same on warps whose operands `staged` was told, all of the form's: for callers that keep them in structs of their own.
  void execute(StagedWarp& staged, std::size_t warps, const ExecutionOptions& options) const;

  /// Nothing if `arguments` name all that the instruction reads and writes: for each operand form().operand(name).words() registers (for p
  /// one, or two for addresses of 64 bits, low half first), none of them null, each at a multiple of four bytes; and the memory that it
  /// addresses. Else what is wrong and what would be right. A stride may be left out. Asserted before each execution where assertions are
  /// compiled in.
  [[nodiscard]] std::optional<std::string> problem(const Arguments& arguments) const;
  [[nodiscard]] std::optional<std::string> problem(const Batch& batch, std::size_t warps) const;

  friend bool operator==(const Instruction&, const Instruction&) = default;

 private:
  void execute_one(const Arguments& arguments, const ExecutionOptions& options) const;
  void execute_plain(const Batch& batch, std::size_t warps, const ExecutionOptions& options) const;

  const Form* form_;
  const Target* target_;
  const Lowering* lowering_;
  const FastPath* fast_;  ///< nullptr where there is none
};

}  // namespace warpmat
