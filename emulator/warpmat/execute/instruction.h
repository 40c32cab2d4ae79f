#pragma once

#include <string_view>

#include <warpmat/execute/arguments.h>
#include <warpmat/tables/lowering.h>

namespace warpmat {

class FastPath;

/// The registers of one operand for many warps: word r of warp w, as Operand::words counts them, is the 32 lanes from words + w * stride +
/// 32 * r on. Stride 0 gives all warps the same.
struct BatchOperand {
  const std::uint32_t* words = nullptr;
  std::size_t stride = 0;
};

/// The registers and memories of many warps. The destination may be a source: each warp reads its own registers before it writes them.
struct Batch {
  std::array<BatchOperand, operand_names> sources;  ///< by OperandName
  std::uint32_t* destination = nullptr;             ///< laid out as a BatchOperand
  std::size_t destination_stride = 0;
  std::uint8_t* shared = nullptr;  ///< warp w's memory: shared_bytes bytes from shared + w * shared_stride on, at address shared_base
  std::size_t shared_bytes = 0, shared_stride = 0;
  std::uint32_t shared_base = 0;
  std::int64_t offset = 0;  ///< see Arguments
  Undefined undefined = Undefined::trap;

  BatchOperand& source(OperandName name) { return sources[static_cast<std::size_t>(name)]; }
  const BatchOperand& source(OperandName name) const { return sources[static_cast<std::size_t>(name)]; }
};

/// A form on a target, ready to execute: cheap to copy, immutable, usable from many threads.
class Instruction {
 public:
  /// Throws std::invalid_argument saying what would be right: opcode unknown, target unknown, or form not on that target.
  Instruction(std::string_view opcode, std::string_view target_name);
  /// Throws std::invalid_argument where `form` is not available for `target` and `version`.
  Instruction(const Form& form, const Target& target, PtxVersion version = newest_ptx);

  const Form& form() const { return *form_; }
  const Target& target() const { return *target_; }
  const Lowering& lowering() const { return *lowering_; }

  /// Executes on one warp. Each source list has form().operand(name).words() registers, the destination likewise, and p one.
  /// Throws Trap, having changed nothing, where an address is wrong. Does not allocate.
  void execute(const Arguments& arguments, Path path = Path::fast) const;

  /// Executes the same instruction on many warps, first to last; see Batch. Does not allocate or lock. Throws Trap naming the warp: those before
  /// it are executed, it and those after it unchanged.
  void execute(const Batch& batch, std::size_t warps, Path path = Path::fast) const;

  friend bool operator==(const Instruction&, const Instruction&) = default;

 private:
  const Form* form_;
  const Target* target_;
  const Lowering* lowering_;
  const FastPath* fast_;  ///< nullptr where there is none
};

}  // namespace warpmat
