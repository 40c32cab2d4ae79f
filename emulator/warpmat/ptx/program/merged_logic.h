#pragma once

#include <warpmat/ptx/program/function_resolver.h>

namespace warpmat::code {

/// Notes logic that ptxas 13.0 merges wrongly: lop3 with a predicate and two equal operands, whose result another logic statement reads
/// together with one of these operands, each as it is or behind moves. ptxas makes one lop3 of both and takes one of the equal operands for
/// 0 there (docs/reference/numerics.md). Which of them, and where it merges, is not known: such statements are executed as PTX has them.
void note_merged_logic(const DraftFunction& function, ProgramDraft& draft);

}  // namespace warpmat::code
