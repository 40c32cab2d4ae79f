#pragma once

#include <warpmat/ptx/program/function_resolver.h>

namespace warpmat::code {

/// Converts what st stores in fewer bytes than a register has, where ptxas does: a statement before it, with nothing in between that ends
/// ptxas's block, wrote the register as a number of f16, f32 or f64. PTX says that the register's low bits are stored; ptxas 13.0 stores
/// the number as an integer of the statement's width, as cvt.rzi makes it. So it does with the amount of a shift of 64 bits. Errors of
/// ptxas, which GPUs execute.
///
/// Before loops are unrolled: ptxas reads the module's text so.
void convert_stored_numbers(DraftFunction& function, ProgramDraft& draft);

}  // namespace warpmat::code
