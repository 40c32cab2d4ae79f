#pragma once

#include <vector>

#include <warpmat/program.h>
#include <warpmat/ptx/program/function_resolver.h>

namespace warpmat::code {

/// Does to instructions with constant operands what ptxas does (folding_rules.h): results that it knows become constants, others become
/// simpler. Constants go through moves, arithmetic, conversions and predicates, along branches and, where all paths agree, behind them,
/// and into functions that are called at one place; not through loops that change them or memory. Before contraction, which sees what is
/// left.
///
/// What became of each statement is noted in Program::folded. `code`, where it is not null, is what machine code shows, and goes before the
/// rule; Program::folding_differs lists the statements where the two differ.
void fold(ProgramDraft& draft, const std::vector<ResultInCode>* code = nullptr);

}  // namespace warpmat::code
