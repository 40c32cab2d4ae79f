#pragma once

#include <warpmat/ptx/syntax/module.h>
#include <warpmat/ptx/text/token_reader.h>

namespace warpmat::syntax {

inline constexpr std::string_view register_directive = ".reg";

/// The space of memory of a directive (".shared"); none for .reg.
std::optional<Space> find_space(std::string_view directive);

/// Whether a declaration of variables begins with the directive: .reg or a space.
bool declares_variables(std::string_view directive);

/// Reads the declaration that begins with a space's directive, up to its semicolon: one variable for each name. Throws StatementError.
std::vector<Variable> read_variables(TokenReader& tokens);

/// Reads (param, param, ...) of a function or prototype; an underscore is a parameter without a name. Throws StatementError.
std::vector<Variable> read_parameters(TokenReader& tokens);

}  // namespace warpmat::syntax
