#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <warpmat/forms.h>

#include "gpu/runners/kernel_runner.h"

namespace warpmat {

// Random kernels whose result the ISA defines, so that two runners must agree on every byte. Every register is written before it is read,
// addresses are valid, and no two threads access the same bytes without a barrier in between. Atomics whose order is visible use the
// thread's own memory.

/// Statements of a kernel that shrinking keeps or removes together: lines[0], blocks[0], lines[1], blocks[1], ..., with one more lines than
/// blocks. A single statement has no blocks; a loop or branch has its body as one.
struct KernelUnit {
  std::vector<std::string> lines;
  std::vector<std::vector<KernelUnit>> blocks;
};

struct KernelProgram {
  std::string begin, end;  ///< of the text: declarations and initialisation of registers; the final stores
  std::vector<KernelUnit> units;
  KernelLaunch launch;  ///< without the text

  /// Lines of all units.
  std::size_t statements() const;
  /// The launch, with its text.
  KernelLaunch complete() const;
};

/// How the sums and products of floating point of a random kernel are written.
enum class DrawnSums {
  rounded,  ///< with .rn: an assembler has no choice, and a GPU's answers test the machine
  plain,    ///< without: an assembler decides which are fused, and the answers test who says so
};

/// Kernel `index` of `seed` for `target`: a few warps and blocks run up to about `max_units` units of statements. These are all scalar
/// instructions of the catalogue, products and sums, branches and loops with divergence, exchanges within the warp, barriers, memory of all
/// spaces, atomics, and matrix instructions.
KernelProgram random_kernel(const Target& target, std::uint64_t seed, std::uint64_t index, int max_units = 24,
                            DrawnSums sums = DrawnSums::rounded);

/// The shortest kernel found for which `fails` holds.
KernelProgram shrink(const KernelProgram& kernel, const std::function<bool(const KernelProgram&)>& fails);

}  // namespace warpmat
