#include <warpmat/execute/listed_warps.h>

#include <warpmat/execute/reference/execute.h>
#include <warpmat/execute/trap_in_warp.h>

namespace warpmat {

void ListedWarps::go_to(std::size_t warp) {
  const std::size_t moved = warp - warp_;
  if (moved == 0) return;
  std::size_t next = 0;
  for (const OperandWords& operand : operand_words(*instruction_.form_)) {
    const ConstRegisterView list = operand.written ? ConstRegisterView(views_.written()) : views_.source(operand.name);
    for (std::size_t i = 0; i < list.list_size(); ++i) registers_[next++] += moved * list.warp_stride();
  }
  if (memory_.shared != nullptr) memory_.shared += moved * memory_.shared_stride;
  warp_ = warp;
}

void ListedWarps::execute_one(const Instruction& instruction, const OperandViews& lists, const CallMemory& memory,
                              const ExecutionOptions& options) {
  const FastPath* const fast = options.path == Path::fast ? instruction.fast_ : nullptr;
  if (fast != nullptr && fast->execute(lists.warps(&memory)) == 1) return;
  warpmat::execute(*instruction.form_, *instruction.lowering_, lists.batch(*instruction.form_, memory), options);
}

void ListedWarps::execute(std::size_t warps, const ExecutionOptions& options) {
  const FastPath* const fast = options.path == Path::fast ? instruction_.fast_ : nullptr;
  for (std::size_t next = 0; next < warps; ++next) {
    go_to(next);
    if (fast != nullptr) next += fast->execute(views_.warps(&memory_, warps - next));
    if (next == warps) return;
    go_to(next);
    try {
      warpmat::execute(*instruction_.form_, *instruction_.lowering_, views_.batch(*instruction_.form_, memory_), options);
    } catch (const Trap& trap) {
      throw in_warp(trap, next);
    }
  }
}

}  // namespace warpmat
