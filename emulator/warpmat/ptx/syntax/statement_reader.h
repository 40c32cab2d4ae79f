#pragma once

#include <string>

#include <warpmat/ptx/syntax/module.h>
#include <warpmat/ptx/text/token_reader.h>

namespace warpmat::syntax {

// The parts of a statement, of modules and lists. All throw StatementError.

/// @p or @!p. Precondition: an @ is here.
Guard read_guard(TokenReader& tokens);

/// A mnemonic and its qualifiers, between which a text may have blanks.
std::string read_opcode(TokenReader& tokens);

/// What follows the opcode: the operands of `statement` and its semicolon.
void read_rest(TokenReader& tokens, Statement& statement);

}  // namespace warpmat::syntax
