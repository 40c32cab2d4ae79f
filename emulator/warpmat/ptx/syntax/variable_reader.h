#pragma once

#include <warpmat/ptx/syntax/module.h>
#include <warpmat/ptx/text/token_reader.h>

namespace warpmat::inline v0_1::syntax {

/// The space of a directive (".shared").
std::optional<Space> find_space(std::string_view directive);

/// Reads the declaration that begins with a space's directive, up to its semicolon: one variable for each name. Throws StatementError.
std::vector<Variable> read_variables(TokenReader& tokens);

/// Reads (param, param, ...) of a function or prototype; an underscore is a parameter without a name. Throws StatementError.
std::vector<Variable> read_parameters(TokenReader& tokens);

}  // namespace warpmat::inline v0_1::syntax
