#pragma once

#include <cstddef>

#include <warpmat/execute/fast/fast.h>
#include <warpmat/execute/operands/batch.h>
#include <warpmat/forms.h>
#include <warpmat/instruction.h>
#include <warpmat/numeric/made_as_needed.h>

namespace warpmat {

/// The views of a form's operands for its kernel: a Batch of which a call makes as much as it needs.
class OperandViews {
 public:
  OperandViews() = default;
  OperandViews(const OperandViews&) = delete;
  OperandViews& operator=(const OperandViews&) = delete;

  void set_source(OperandName name, const ConstRegisterView& view) { sources_.make(static_cast<std::size_t>(name), view); }
  void set_written(const RegisterView& view) { written_ = view; }
  /// Moves a source to the next warp. Precondition: it is no list.
  void go_to_next(OperandName name) {
    ConstRegisterView& view = sources_[static_cast<std::size_t>(name)];
    view = view.from_warp(1);
  }
  const ConstRegisterView& source(OperandName name) const { return sources_[static_cast<std::size_t>(name)]; }
  const RegisterView& written() const { return written_; }

  /// `count` warps, for the kernel. Precondition: each operand of the form was set.
  Warps warps(const CallMemory* memory = nullptr, std::size_t count = 1) const { return {sources_.data(), written_, memory, count}; }

  /// All operands of `form`, for the reference. Precondition: each was set.
  Batch batch(const Form& form, const CallMemory& memory) const {
    Batch all;
    static_cast<CallMemory&>(all) = memory;
    all.destination = written_;
    for (const Operand& operand : form.operands)
      if (!operand.written) all.source(operand.name) = source(operand.name);
    return all;
  }

 private:
  RegisterView written_;
  MadeAsNeeded<ConstRegisterView, operand_name_count> sources_;  ///< by OperandName
};

}  // namespace warpmat
