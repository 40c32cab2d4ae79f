#pragma once

#include <string_view>

#include <warpmat/isa/lowering.h>

namespace warpmat {

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
  void execute(const Arguments& arguments) const { lowering_->execute(*form_, *lowering_, arguments); }

  friend bool operator==(const Instruction&, const Instruction&) = default;

 private:
  const Form* form_;
  const Target* target_;
  const Lowering* lowering_;
};

/// The machine instructions of `form` on the hardware of `lowering`: "HMMA.16816", "2 IMMA.16832", "LDSM".
std::string machine_name(const Form& form, const Lowering& lowering);

}  // namespace warpmat
