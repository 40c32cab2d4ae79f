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

/// A form on a target, ready to execute: cheap to copy, immutable, thread-safe.
class WARPMAT_API Instruction {
 public:
  /// Throws std::invalid_argument for an unknown opcode or target, or a form that the target lacks. The message says what would be right.
  Instruction(std::string_view opcode, std::string_view target_name);
  /// Throws std::invalid_argument if `form` is not available for `target` and `version`, or if either is not a copy of a row of its table.
  /// Keeps no reference to the two objects.
  Instruction(const Form& form, const Target& target, PtxVersion version = newest_ptx);

  // Rows of the tables; they last until the process ends.
  const Form& form() const { return *form_; }
  const Target& target() const { return *target_; }
  const Lowering& lowering() const { return *lowering_; }

  /// Executes on one warp. Precondition: problem(arguments) is nothing. Throws OperandTrap, having changed nothing, for a wrong address.
  /// Unless `options` ask for the hardware's behaviour, it also throws for operands that the ISA leaves undefined: metadata, padding, ids,
  /// a selector. Neither allocates nor locks unless it throws.
  void execute(const Arguments& arguments, const ExecutionOptions& options = {}) const;

  /// Executes the same instruction on many warps in order; see Batch. Precondition: problem(batch, warps) is nothing. Neither allocates nor
  /// locks unless it throws or a callback does. Throws OperandTrap naming the warp: earlier warps are executed; that warp and later ones
  /// are unchanged, except for rows that a RowMemory accepted before it refused one.
  void execute(const Batch& batch, std::size_t warps, const ExecutionOptions& options = {}) const;

  /// The same on warps whose operands were passed to `staged`, all of the form's: for callers with structs of their own.
  void execute(StagedWarp& staged, std::size_t warps, const ExecutionOptions& options) const;

  /// Nothing if `arguments` name all registers and memory that the instruction reads and writes; else what is wrong and what would be
  /// right. Each operand needs form().operand(name).words() registers; p needs one, or two for 64-bit addresses, low half first. None may
  /// be null; each must be a multiple of four bytes. A stride may be left out. If assertions are compiled in, each execution asserts this.
  [[nodiscard]] std::optional<std::string> problem(const Arguments& arguments) const;
  [[nodiscard]] std::optional<std::string> problem(const Batch& batch, std::size_t warps) const;

  friend bool operator==(const Instruction&, const Instruction&) = default;

 private:
  void execute_one(const Arguments& arguments, const ExecutionOptions& options) const;
  void execute_plain(const Batch& batch, std::size_t warps, const ExecutionOptions& options) const;

  const Form* form_;
  const Target* target_;
  const Lowering* lowering_;
  const FastPath* fast_;  ///< nullptr if there is none
};

}  // namespace warpmat
