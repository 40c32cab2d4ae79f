#pragma once

#include <warpmat/assembler.h>
#include <warpmat/lower/context.h>

namespace warpmat::code {

/// Fuses products and sums without a rounding modifier as ptxas does. In short: a sum takes in a product of the same type and .ftz in the
/// same region (value_uses.h) if all uses of that product are such sums, directly or behind neg; products with one use go first, then those
/// with fewer uses, then the first operand. docs/reference/assembler.md has the rule and how it was found. `decisions` go before it.
void contract(DraftFunction& function, ProgramDraft& draft, const AssemblerDecisions* decisions);

}  // namespace warpmat::code
