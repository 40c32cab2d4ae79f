#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <warpmat/export.h>
#include <warpmat/execute/arguments.h>
#include <warpmat/tables/lowering.h>

namespace warpmat {

class FastPath;

/// The registers of one operand for many warps: word r of warp w, as Operand::words counts them, is the 32 lanes from words + w * stride +
/// 32 * r on. Stride 0 gives all warps the same. They may lie wherever a 32-bit word may.
struct BatchOperand {
  const std::uint32_t* words = nullptr;
  std::size_t stride = 0;
};

/// The registers and memories of many warps, which may overlap in any way: a batch does what its warps do one after another. See Arguments.
struct Batch {
  std::array<BatchOperand, operand_names> sources;  ///< by OperandName
  std::uint32_t* destination = nullptr;             ///< laid out as a BatchOperand
  std::size_t destination_stride = 0;
  std::uint8_t* shared = nullptr;  ///< warp w's memory: shared_bytes bytes from shared + w * shared_stride on, at address shared_base
  std::size_t shared_bytes = 0, shared_stride = 0;
  std::uint32_t shared_base = 0;
  std::int64_t offset = 0;  ///< see Arguments

  BatchOperand& source(OperandName name) { return sources[static_cast<std::size_t>(name)]; }
  const BatchOperand& source(OperandName name) const { return sources[static_cast<std::size_t>(name)]; }
};

/// A form on a target, ready to execute: cheap to copy, immutable, usable from many threads.
class WARPMAT_API Instruction {
 public:
  /// Throws std::invalid_argument saying what would be right: opcode unknown, target unknown, or form not on that target.
  Instruction(std::string_view opcode, std::string_view target_name);
  /// Throws std::invalid_argument where `form` is not available for `target` and `version`, and where either is no copy of a row of its table.
  /// Keeps neither of the two objects.
  Instruction(const Form& form, const Target& target, PtxVersion version = newest_ptx);

  // Rows of the tables, which last until the process ends.
  const Form& form() const { return *form_; }
  const Target& target() const { return *target_; }
  const Lowering& lowering() const { return *lowering_; }

  /// Executes on one warp; problem(arguments) must be nothing. Throws Trap, having changed nothing, where an address is wrong, and unless `options`
  /// ask for the hardware's behaviour, where the ISA leaves what the operands hold undefined: metadata, padding, ids, a selector. Does not
  /// allocate or lock unless it throws.
  void execute(const Arguments& arguments, const ExecutionOptions& options = {}) const;

  /// Executes the same instruction on many warps, first to last; see Batch. problem(batch, warps) must be nothing. Does not allocate or lock
  /// unless it throws. Throws Trap naming the warp: those before it are executed, it and those after it unchanged.
  void execute(const Batch& batch, std::size_t warps, const ExecutionOptions& options = {}) const;

  /// Nothing if `arguments` name all that the instruction reads and writes: for each operand form().operand(name).words() registers (for p one,
  /// or two for addresses of 64 bits, low half first), none of them null, each at a multiple of four bytes; and the memory that it addresses. Else what
  /// is wrong and what would be right. A stride may be left out. Asserted before each execution where assertions are compiled in.
  [[nodiscard]] std::optional<std::string> problem(const Arguments& arguments) const;
  [[nodiscard]] std::optional<std::string> problem(const Batch& batch, std::size_t warps) const;

  friend bool operator==(const Instruction&, const Instruction&) = default;

 private:
  const Form* form_;
  const Target* target_;
  const Lowering* lowering_;
  const FastPath* fast_;  ///< nullptr where there is none
};

}  // namespace warpmat
