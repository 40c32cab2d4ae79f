#pragma once

#include <string>
#include <vector>

#include "gpu/runners/kernel_runner.h"

namespace warpmat {

/// A byte that differs between two runs of a kernel.
struct ByteDifference {
  std::size_t buffer = 0, at = 0;
  std::uint8_t expected = 0, found = 0;
};

struct KernelComparison {
  std::size_t bytes = 0;                    ///< compared, of all buffers together
  std::size_t mismatches = 0;               ///< of them
  std::vector<ByteDifference> differences;  ///< the first ones
  bool same_text = true;
};

/// Whether a launch printed the same twice. If several warps print, lines are compared in any order, because PTX does not define it; else
/// exactly.
bool same_printed(const LaunchConfig& config, const std::string& expected, const std::string& found);

/// Compares every byte of every buffer, and the printed text.
KernelComparison compare_kernels(const KernelLaunch& launch, const KernelAnswer& expected, const KernelAnswer& found,
                                 std::size_t max_differences);

}  // namespace warpmat
