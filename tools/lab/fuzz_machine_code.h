#pragma once

#include <string>

#include "tools/lab/fuzz_kernels.h"

namespace warpmat {

/// `warpmat fuzz --kernels --machine-code`: runs random kernels for `target` by the interpreter and as machine code, and compares every
/// byte of every buffer. Needs no GPU. Throws std::runtime_error where one differs.
void fuzz_machine_code(const KernelFuzzOptions& options, const std::string& target);

}  // namespace warpmat
