#pragma once

#include <warpmat/ir/machine_code.h>

namespace warpmat {

/// Lets programs that have become hot run as the CPU's own code, where it has AVX-512: for commands, the CUDA runtime and Python. The
/// libraries for users do not need asmjit. The environment's WARPMAT_MACHINE_CODE says otherwise: `never`, or `always` from the first block
/// on.
void use_machine_code();
/// The same whatever the environment says.
void use_machine_code(code::CompileWhen when);

}  // namespace warpmat
