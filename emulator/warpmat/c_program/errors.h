#pragma once

#include <warpmat/c/entry.h>
#include <warpmat/diagnostic.h>

namespace warpmat::c {

/// The first error of a text.
inline warpmat_error syntax_error(const SyntaxError& syntax) {
  const Diagnostic& first = syntax.errors.front();
  warpmat_error error = plain_error(WARPMAT_SYNTAX, first.message);
  error.line = first.location.line;
  error.column = first.location.column;
  return error;
}

}  // namespace warpmat::c
