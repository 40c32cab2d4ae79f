#pragma once

#include <warpmat/ptx/program/function_resolver.h>

namespace warpmat::code {

/// neg.f32 and abs.f32 whose results are selected: ptxas makes them modifiers of an operand of FSEL, which turns or clears a NaN's sign and
/// keeps its payload. By themselves they are additions of -0, which make NaNs canonical. Selected are
///   operands of selp.f32 and slct.f32, also behind moves and from another block
///   a guarded neg.f32 or abs.f32: its result or the register's value before
///   the value before of what a guarded instruction overwrites, where that is of f32 and one machine instruction, or calls a subroutine
/// With .ftz, of other types, and beside selp.b32 and mov.b32 they remain additions.
/// Source: machine code of ptxas 13.0.
void select_signs(DraftFunction& function, ProgramDraft& draft);

}  // namespace warpmat::code
