#pragma once

#include <warpmat/ptx/syntax/module.h>
#include <warpmat/ptx/text/token_reader.h>

namespace warpmat::syntax {

// Parts of the grammar that statements and declarations share. All functions throw StatementError.

/// One operand.
Operand read_operand(TokenReader& tokens);

/// Operands up to the semicolon, which is not consumed.
std::vector<Operand> read_operands(TokenReader& tokens);

/// A sum of integers, as in [a+-44] and .align 8.
std::int64_t read_integer(TokenReader& tokens);

/// + and a constant expression, as in v+4, v+-4 and v+16-4; 0 if there is none.
std::int64_t read_offsets(TokenReader& tokens);

/// A word that is a name; messages call it `what`.
const Token& read_name(TokenReader& tokens, std::string_view what);

}  // namespace warpmat::syntax
