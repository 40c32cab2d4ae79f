#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <warpmat/c.h>

#include <warpmat/c/instruction.h>
#include <warpmat/instruction.h>
#include <warpmat/warp.h>

namespace warpmat::c {

/// The matrix instruction, and its form. Throw std::invalid_argument for null and for other instructions.
const Instruction& matrix_of(const warpmat_instruction* instruction);
const Form& form_of(const warpmat_instruction* instruction);

/// The fragment that `form` calls `operand`. Throws std::invalid_argument for others, naming those that exist.
const Operand& fragment_of(const Form& form, int operand);

/// The words of one operand of one warp, copied from where the caller has them to consecutive lanes.
class StagedOperand {
 public:
  /// Throws std::invalid_argument, naming `operand`, for registers that do not have its `words` words, and for those that are `written` and
  /// the same in all lanes.
  StagedOperand(const Form& form, OperandName operand, std::size_t words, const warpmat_registers* registers, std::size_t warp,
                bool written = false);

  const std::vector<std::uint32_t*>& words() const { return pointers_; }
  ConstRegisterList const_words() const { return {pointers_.data(), pointers_.size()}; }
  /// Copies them back. Precondition: they are `written`.
  void store() const;

 private:
  RegisterView given_;  ///< the caller's, from that warp on
  std::vector<Register> held_;
  std::vector<std::uint32_t*> pointers_;  ///< to held_
};

/// All operands and the memory of one warp of a call, for functions that take a Call of one warp.
class StagedCall {
 public:
  /// Throws std::invalid_argument for what the call lacks.
  StagedCall(const Instruction& instruction, const warpmat_call& call, std::size_t warp);
  StagedCall(const StagedCall&) = delete;
  StagedCall& operator=(const StagedCall&) = delete;

  const Call& get() const { return call_; }

 private:
  void add_memory(const warpmat_call& call, std::size_t warp);

  std::vector<StagedOperand> operands_;
  std::vector<RegisterView> views_;
  Call call_;
};

}  // namespace warpmat::c
