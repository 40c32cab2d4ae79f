#pragma once

#include <array>
#include <cstddef>

#include <warpmat/forms.h>
#include <warpmat/instruction.h>

namespace warpmat {

/// A Call of a matrix instruction with its operands by name, as the reference and the kernels ask for them.
struct Batch : CallMemory {
  std::array<ConstRegisterView, operand_name_count> sources;  ///< by OperandName
  RegisterView destination;                                   ///< d, or r of ldmatrix; written register by register, lane 0 first

  ConstRegisterView& source(OperandName name) { return sources[static_cast<std::size_t>(name)]; }
  const ConstRegisterView& source(OperandName name) const { return sources[static_cast<std::size_t>(name)]; }

  /// Precondition: `call` has a view for each operand of `form`, or leaves out optional ones at the end.
  static Batch of(const Form& form, const Call& call) {
    Batch batch;
    static_cast<CallMemory&>(batch) = call;
    for (std::size_t i = 0; i < call.operands.size(); ++i)
      if (form.operands[i].written)
        batch.destination = call.operands[i];
      else
        batch.source(form.operands[i].name) = call.operands[i];
    return batch;
  }
};

/// The Call that has a Batch's operands in PTX's order.
class NamedCall {
 public:
  NamedCall(const Form& form, const Batch& batch) {
    static_cast<CallMemory&>(call_) = batch;
    std::size_t count = 0;
    for (const Operand& operand : form.operands)
      views_[count++] = operand.written ? batch.destination : read_only(batch.source(operand.name));
    call_.operands = std::span(views_).first(count);
  }
  NamedCall(const NamedCall&) = delete;
  NamedCall& operator=(const NamedCall&) = delete;

  const Call& get() const { return call_; }

 private:
  std::array<RegisterView, operand_name_count> views_;
  Call call_;
};

/// Executes a matrix instruction, as Instruction::execute does with the Call of the same operands.
inline void execute(const Instruction& instruction, const Batch& batch, std::size_t warps = 1, const ExecutionOptions& options = {}) {
  instruction.execute(NamedCall(instruction.form(), batch).get(), warps, options);
}

}  // namespace warpmat
