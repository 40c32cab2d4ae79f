#pragma once

#include <cstdint>

#include <warpmat/ptx/text/token_reader.h>

namespace warpmat::syntax {

/// Whether an integer constant expression with at least one operator begins here (PTX ISA 9.1 section 4.5.5): `(128 >> 4) << 16`, `~7`,
/// `-(4 + 3)`. A single number, with or without a minus, does not count, nor do the arguments of a call, `(1, 2)`.
bool constant_expression_stands_here(const TokenReader& tokens);

/// Its 64 bits. Both .s64 and .u64 values wrap; the result is unsigned if an operand is. Throws StatementError.
std::uint64_t read_constant_expression(TokenReader& tokens);

}  // namespace warpmat::syntax
