#pragma once

#include <warpmat/ptx/syntax/module.h>
#include <warpmat/ptx/token_reader.h>

namespace warpmat::syntax {

// Parts of the grammar that statements and declarations share. All throw StatementError.

/// One operand; `after` names what stands before it, for messages.
Operand read_operand(TokenReader& tokens);

/// Operands up to the semicolon, which stays.
std::vector<Operand> read_operands(TokenReader& tokens);

/// A sum of integers, as in [a+-44] and .align 8: as many as there are, the first without a sign unless `signed_first`.
std::int64_t read_integer(TokenReader& tokens);

/// + and a constant expression, as in v+4, v+-4 and v+16-4; nothing is 0.
std::int64_t read_offsets(TokenReader& tokens);

/// A word that is a name; `what` for messages.
const Token& read_name(TokenReader& tokens, std::string_view what);

}  // namespace warpmat::syntax
