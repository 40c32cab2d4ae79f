#pragma once

#include <hwy/targets.h>

namespace warpmat {

/// The instruction sets that kernels of every room are called of (execute/fast/instruction_sets.h): at first the best ones of this CPU. Not
/// Highway's own choice, which is that of all its users in the process.
hwy::ChosenTarget& kernels_target();

}  // namespace warpmat

/// The kernel `function`, which HWY_EXPORT names, for the instruction set that is to be used.
#if (HWY_TARGETS & (HWY_TARGETS - 1)) == 0  // compiled for one alone: Highway makes no table
#define WARPMAT_KERNEL(function) HWY_STATIC_DISPATCH(function)
#else
#define WARPMAT_KERNEL(function) (*HWY_DISPATCH_TABLE(function)[::warpmat::kernels_target().GetIndex()])
#endif
