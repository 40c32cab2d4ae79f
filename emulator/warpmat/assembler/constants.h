#pragma once

#include <warpmat/assembler.h>
#include <warpmat/lower/context.h>

namespace warpmat::code {

/// Makes immediates of approximate functions of numbers, which ptxas rounds correctly, and products of divisions by numbers. Numbers are
/// those of the text, behind moves, and such results. `decisions` say which results are immediates, and go before the rule.
/// Source: machine code of ptxas 13.0, held against an H100: docs/reference/assembler.md.
void fold_constants(DraftFunction& function, ProgramDraft& draft, const AssemblerDecisions* decisions);

}  // namespace warpmat::code
