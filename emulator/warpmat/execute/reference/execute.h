#pragma once

#include <warpmat/execute/operands/batch.h>
#include <warpmat/execute/operands/matrix_storage.h>
#include <warpmat/forms.h>
#include <warpmat/instruction.h>

namespace warpmat {

/// Executes `form` under `lowering`, by the function for lowering.semantics: below, in float.h or in integer.h. Throws Trap before it
/// writes anything.
void execute(const Form& form, const Lowering& lowering, const Batch& batch, const ExecutionOptions& options);

// ---- moves.cpp

/// Lane s of matrix q's lanes holds the address of row s: 16 bytes of shared memory, 16-byte aligned. Elements narrower than a byte are
/// zero-extended. Addresses of further lanes are ignored unless lowering.particulars requires all to be valid. An invalid one then traps,
/// because the hardware's behaviour was not measured. PTX ISA 9.1 section 9.7.14.5.15.
void execute_ldmatrix(const Form& form, const Lowering& lowering, const Batch& batch);

/// The inverse of execute_ldmatrix. If rows overlap, the highest lane's row remains. PTX ISA 9.1 section 9.7.14.5.16.
void execute_stmatrix(const Form& form, const Batch& batch);

/// Transposes an 8x8 matrix held in one register. PTX ISA 9.1 section 9.7.14.5.17.
void execute_movmatrix(const Form& form, const Batch& batch);

// ---- wmma_moves.cpp

/// Element (row, column) of a matrix is row * stride + column elements after the address, for .col column * stride + row. Every lane reads
/// the elements that the fragment has in its registers. Traps as storage_of does (row_addresses.h). PTX ISA 9.1 section 9.7.14.4.3.
void execute_wmma_load(const Form& form, const Batch& batch);

/// The inverse of execute_wmma_load. PTX ISA 9.1 section 9.7.14.4.4.
void execute_wmma_store(const Form& form, const Batch& batch);

}  // namespace warpmat
