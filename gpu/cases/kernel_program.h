#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <warpmat/tables/target.h>

#include "gpu/runners/kernel_runner.h"

namespace warpmat {

// Random kernels whose result the ISA defines, so that two runners must agree on every byte: every register is written before it is read,
// addresses are valid, no two threads touch the same bytes without a barrier in between, and atomics whose order shows go to the thread's
// own memory.

/// Statements of a kernel that stay or go together when it is shortened: lines[0], blocks[0], lines[1], blocks[1], ..., one more lines than
/// blocks. A single statement has no blocks; a loop or branch has its body as one.
struct KernelUnit {
  std::vector<std::string> lines;
  std::vector<std::vector<KernelUnit>> blocks;
};

struct KernelProgram {
  std::string begin, end;  ///< of the text: declarations and how registers are filled; how they are stored
  std::vector<KernelUnit> units;
  KernelLaunch launch;  ///< but for the text

  /// Lines of all units.
  std::size_t statements() const;
  /// The launch, with its text.
  KernelLaunch complete() const;
};

/// Kernel `index` of `seed` for `target`: a few warps and blocks run up to about `max_units` units of statements: all scalar instructions
/// of the catalogue, products and sums that ptxas contracts, branches and loops whose lanes part, exchanges within the warp, barriers,
/// memory of all spaces, atomics, matrix instructions.
KernelProgram random_kernel(const Target& target, std::uint64_t seed, std::uint64_t index, int max_units = 24);

/// The shortest kernel that `fails` still holds for after units are left out.
KernelProgram shrink(const KernelProgram& kernel, const std::function<bool(const KernelProgram&)>& fails);

}  // namespace warpmat
