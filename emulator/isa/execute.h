#pragma once

#include <warpmat/isa/lowering.h>

namespace warpmat {

// What the instructions do, one function each: the lowering table names them. Contract: see Execute.

/// Lane 8q+s holds the address of row s of matrix q: 16 bytes of shared memory, 16-byte aligned. Register q of the destination receives
/// matrix q. Addresses of lanes from 8 * number on are ignored. PTX ISA 9.1 section 9.7.14.5.15.
void execute_ldmatrix(const Form&, const Lowering&, const Arguments&);

/// The inverse of execute_ldmatrix. Where rows overlap, the higher lane's row stays. PTX ISA 9.1 section 9.7.14.5.16.
void execute_stmatrix(const Form&, const Lowering&, const Arguments&);

/// Transposes an 8x8 matrix held in one register. PTX ISA 9.1 section 9.7.14.5.17.
void execute_movmatrix(const Form&, const Lowering&, const Arguments&);

/// D = A · B + C in steps of lowering.model, K ascending (numeric/dot.h).
void execute_dot(const Form&, const Lowering&, const Arguments&);

/// D = A · B + C exactly; without .satfinite modulo 2^32, with it clamped once at the end [H200].
void execute_integer_dot(const Form&, const Lowering&, const Arguments&);

}  // namespace warpmat
