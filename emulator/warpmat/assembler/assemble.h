#pragma once

#include <warpmat/assembler.h>
#include <warpmat/assembler/options.h>
#include <warpmat/ptx/program/function_resolver.h>

namespace warpmat::code {

/// Does to a program what the assembler does to its bits. What `options` forbid is not done, whoever decides; `decisions`, where they are
/// not null, go before the rule. Afterwards Program says what became of statements, and which are in doubt.
void assemble(ProgramDraft& draft, AssemblerOptions options, const AssemblerDecisions* decisions);

}  // namespace warpmat::code
