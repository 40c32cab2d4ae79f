#pragma once

#include <warpmat/execute/arguments.h>
#include <warpmat/execute/matrix_storage.h>
#include <warpmat/tables/lowering.h>

namespace warpmat {

/// Executes `form` under `lowering`, by the function below for lowering.semantics. Throws Trap before it writes anything.
void execute(const Form& form, const Lowering& lowering, const Arguments& arguments, const ExecutionOptions& options);

// The instructions, one function for each Semantics. Each reads all sources in `arguments`, then writes results.

// ---- moves.cpp

/// The row address of `lane`: p plus the offset.
std::uint64_t row_address(const Arguments& arguments, int lane);

/// Lane s of matrix q's lanes holds the address of row s: 16 bytes of shared memory, 16-byte aligned. Elements narrower than a byte are
/// zero-extended. Addresses of further lanes are ignored unless lowering.particulars requires all to be valid. An invalid one then traps,
/// because the hardware's behaviour was not measured. PTX ISA 9.1 section 9.7.14.5.15.
void execute_ldmatrix(const Form&, const Lowering&, const Arguments&, const ExecutionOptions&);

/// The inverse of execute_ldmatrix. If rows overlap, the highest lane's row remains. PTX ISA 9.1 section 9.7.14.5.16.
void execute_stmatrix(const Form&, const Lowering&, const Arguments&, const ExecutionOptions&);

/// Transposes an 8x8 matrix held in one register. PTX ISA 9.1 section 9.7.14.5.17.
void execute_movmatrix(const Form&, const Lowering&, const Arguments&, const ExecutionOptions&);

// ---- wmma_moves.cpp

/// The storage of the statement's matrix in memory, checked.
MatrixStorage storage_of(const Form& form, const Arguments& arguments);

/// Element (row, column) of a matrix is row * stride + column elements after the address, for .col column * stride + row. Every lane reads
/// the elements that the fragment has in its registers. Traps if address or stride differ between lanes, which the ISA leaves undefined, or
/// are not multiples of Form::memory_alignment. PTX ISA 9.1 section 9.7.14.4.3.
void execute_wmma_load(const Form&, const Lowering&, const Arguments&, const ExecutionOptions&);

/// The inverse of execute_wmma_load. PTX ISA 9.1 section 9.7.14.4.4.
void execute_wmma_store(const Form&, const Lowering&, const Arguments&, const ExecutionOptions&);

// ---- float.cpp

/// D = A · B + C in steps of lowering.model, K ascending (numeric/dot.h), with block scales if the form has them. A sparse A is processed
/// by its stored elements: an element of B without a stored element of A does not affect the result [H200].
void execute_dot(const Form&, const Lowering&, const Arguments&, const ExecutionOptions&);

/// fp8 on hardware without a unit for it. Elements become f16. d1 sums the stored k with k mod 4 in {0, 1} from zero, d2 the others from
/// d1, and D = d2 + C in one IEEE addition, register by register. If a register of C is an earlier one of D, the addition reads the new
/// value [H200].
void execute_split_dot(const Form&, const Lowering&, const Arguments&, const ExecutionOptions&);

/// kind::mxf4 and kind::mxf4nvf4: lowering.model over groups of 16 products with their scale factors.
void execute_grouped_dot(const Form&, const Lowering&, const Arguments&, const ExecutionOptions&);

/// f64: a chain of fused multiply-adds from C, K ascending, each rounded as the form says.
void execute_f64_chain(const Form&, const Lowering&, const Arguments&, const ExecutionOptions&);

/// m8n8k4 of f16 in the matrix unit: four products, one step each.
void execute_m8n8k4_dot(const Form&, const Lowering&, const Arguments&, const ExecutionOptions&);

/// m8n8k4 of f16 on the ordinary f32 cores, as the assembler emits it from sm_80 on.
void execute_m8n8k4_fma(const Form&, const Lowering&, const Arguments&, const ExecutionOptions&);

// ---- integer.cpp

/// D = A · B + C exactly; without .satfinite modulo 2^32, with it clamped once at the end [H200].
void execute_integer_dot(const Form&, const Lowering&, const Arguments&, const ExecutionOptions&);

/// .b1: D = popcount(A op B) + C modulo 2^32.
void execute_bit_dot(const Form&, const Lowering&, const Arguments&, const ExecutionOptions&);

}  // namespace warpmat
