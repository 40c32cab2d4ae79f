#pragma once

#include <warpmat/ptx/syntax/module.h>
#include <warpmat/ptx/token_reader.h>

namespace warpmat::syntax {

/// The space that a directive (".shared") names.
std::optional<Space> find_space(std::string_view directive);

/// Reads the declaration that begins with a space's directive, up to its semicolon: one variable for each name. Throws StatementError.
std::vector<Variable> read_variables(TokenReader& tokens);

/// Reads (param, param, ...) of a function or prototype, an underscore being a parameter without a name. Throws StatementError.
std::vector<Variable> read_parameters(TokenReader& tokens);

}  // namespace warpmat::syntax
