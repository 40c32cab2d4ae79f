#pragma once

#include <warpmat/ptx/program/function_resolver.h>

namespace warpmat::code {

/// Gives all registers, constants, variables and labels of the functions their places and writes the operations of `draft.program`.
void emit(ProgramDraft& draft);

}  // namespace warpmat::code
