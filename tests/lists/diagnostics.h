#pragma once

#include <string_view>
#include <vector>

#include <warpmat/program.h>

namespace warpmat {

/// What parse() finds wrong with `text`; empty if nothing.
inline std::vector<Diagnostic> diagnostics(std::string_view text, std::string_view target_name = "sm_90a") {
  try {
    static_cast<void>(parse(text, target_name));
    return {};
  } catch (const SyntaxError& error) {
    return error.errors;
  }
}

/// Whether two programs have the same target, registers, variables and statements, in the same places.
inline bool same_contents(const Program& a, const Program& b) {
  return a.target() == b.target() && a.registers() == b.registers() && a.variables() == b.variables() && a.statements() == b.statements() &&
         a.named_words() == b.named_words() && a.constants() == b.constants() && a.words() == b.words() &&
         a.shared_bytes() == b.shared_bytes();
}

/// And the same version.
inline bool same_program(const Program& a, const Program& b) {
  return a.version() == b.version() && same_contents(a, b);
}

}  // namespace warpmat
