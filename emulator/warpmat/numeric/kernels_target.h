#pragma once

#include <hwy/targets.h>

namespace warpmat {

/// For kernels_target() alone: its value, and what sets that for this CPU.
extern constinit hwy::ChosenTarget chosen_kernels_target;
void choose_kernels_target();

/// The instruction set of all kernel dispatch (execute/fast/instruction_sets.h); initially the best one that this CPU supports. Highway's
/// own choice is not used: all users of Highway in the process share it. Inline, because each call of a kernel reads it.
inline hwy::ChosenTarget& kernels_target() {
  if (!chosen_kernels_target.IsInitialized()) [[unlikely]]
    choose_kernels_target();
  return chosen_kernels_target;
}

}  // namespace warpmat

/// The kernel `function`, which HWY_EXPORT names, for the selected instruction set.
#if (HWY_TARGETS & (HWY_TARGETS - 1)) == 0  // one instruction set: Highway makes no table
#define WARPMAT_KERNEL(function) HWY_STATIC_DISPATCH(function)
#else
#define WARPMAT_KERNEL(function) (*HWY_DISPATCH_TABLE(function)[::warpmat::kernels_target().GetIndex()])
#endif
