#pragma once

#include <warpmat/ir/machine_code.h>

namespace warpmat {

/// Lets programs that have become hot run as the CPU's own code, where it has AVX2: for commands, the CUDA runtime and Python. The
/// libraries for users do not need asmjit. The environment's WARPMAT_MACHINE_CODE says otherwise: `never`; `always`, from the first block
/// on; `avx2`, without AVX-512; or `always,avx2`.
void use_machine_code();
/// The same, but for `never` and `always`.
void use_machine_code(code::CompileWhen when);
/// What compiles programs then; null where there is nothing.
code::CompileProgram chosen_program_compiler();
/// What compiles programs for this CPU, or for one without AVX-512; null where there is nothing.
code::CompileProgram find_program_compiler(bool avx2_alone);

}  // namespace warpmat
