#pragma once

#include <warpmat/lower/context.h>

namespace warpmat::code {

/// Notes the statements of which ptxas 13.0 is known to make something else than the machine then executes: a pattern of a few lines each,
/// no rewriting. docs/reference/assembler.md lists them. Those about sums are contract()'s.
void note_doubts(const DraftFunction& function, ProgramDraft& draft);

}  // namespace warpmat::code
