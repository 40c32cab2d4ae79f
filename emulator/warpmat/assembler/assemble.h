#pragma once

#include <warpmat/assembler.h>
#include <warpmat/assembler/options.h>
#include <warpmat/lower/context.h>

namespace warpmat::code {

/// Applies to a program the transformations of the assembler that change bits. `options` override every provider; `decisions`, where they
/// are not null, go before the rule. Afterwards Program says what became of statements, and which are in doubt.
void assemble(ProgramDraft& draft, AssemblerOptions options, const AssemblerDecisions* decisions);

}  // namespace warpmat::code
