#pragma once

#include <string>

#include "tools/lab/fuzz_kernels.h"

namespace warpmat {

/// `warpmat fuzz --kernels --assembler`: assembles random kernels for `target` by this machine's ptxas, and compares which sums became fma
/// there and by the rule of contraction. Needs no GPU. Throws std::runtime_error where one differs or ptxas is not installed.
void fuzz_assembler(const KernelFuzzOptions& options, const std::string& target);

}  // namespace warpmat
