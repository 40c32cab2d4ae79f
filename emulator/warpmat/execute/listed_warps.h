#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <warpmat/execute/fast/operand_views.h>
#include <warpmat/execute/operand_words.h>
#include <warpmat/forms.h>
#include <warpmat/instruction.h>
#include <warpmat/tables/capacity.h>

namespace warpmat {

/// Executes the warps of a batch in order on registers that kernels and the reference use where they are: register-major ones and lists.
/// StagedWarp executes all other batches.
class ListedWarps {
 public:
  /// `memory`: usable_in_place(memory), if the instruction addresses memory.
  ListedWarps(const Instruction& instruction, const CallMemory& memory) : instruction_(instruction), memory_(memory) {}
  ListedWarps(const ListedWarps&) = delete;
  ListedWarps& operator=(const ListedWarps&) = delete;

  /// Describes the operands of the form, in their order.
  template <typename Word>
  void add(const OperandWords& operand, const BasicRegisterView<Word>& registers) {
    if (operand.kind == OperandKind::stride && registers.is_empty()) return views_.set_source(operand.name, {});  // left out
    std::uint32_t** const first = &registers_[words_];
    // Sources are only read. Their pointers are not const because lists of registers share one type.
    for (int i = 0; i < operand.words; ++i) first[i] = const_cast<std::uint32_t*>(registers.word(i));
    words_ += operand.words;
    const RegisterView list(std::span<std::uint32_t* const>(first, operand.words), registers.warp_stride());
    operand.written ? views_.set_written(list) : views_.set_source(operand.name, list);
  }

  /// One warp whose operands are all lists, as Instruction::execute of a batch of them, which would look at them first.
  static void execute_one(const Instruction& instruction, const OperandViews& lists, const CallMemory& memory,
                          const ExecutionOptions& options);

  /// Throws Trap as Instruction::execute of a batch.
  void execute(std::size_t warps, const ExecutionOptions& options);

 private:
  void go_to(std::size_t warp);

  const Instruction& instruction_;
  std::array<std::uint32_t*, capacity::form_words> registers_;  ///< of warp warp_
  std::size_t words_ = 0, warp_ = 0;
  OperandViews views_;  ///< lists in registers_
  CallMemory memory_;   ///< of warp warp_
};

}  // namespace warpmat
