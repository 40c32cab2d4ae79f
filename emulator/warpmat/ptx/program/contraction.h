#pragma once

#include <vector>

#include <warpmat/program.h>
#include <warpmat/ptx/program/function_resolver.h>

namespace warpmat::code {

/// Does to products and sums without a rounding modifier what ptxas does unless it is told --fmad=false. docs/assembler.md has the rule and
/// how it was found. In short: a sum takes in a product of the same type and .ftz in the same region (value_uses.h) if all uses of that
/// product are such sums, directly or behind neg; products with one use go first, then those with fewer uses, then the first operand.
/// `code`, where it is not null, is what machine code shows, and goes before the rule.
///
/// Program::contracted lists the adds that became part of an fma.
void contract(DraftFunction& function, ProgramDraft& draft, const std::vector<SumInCode>* code = nullptr);

}  // namespace warpmat::code
