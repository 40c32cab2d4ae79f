#pragma once

#include <optional>
#include <string>
#include <unordered_map>

#include <warpmat/lower/draft.h>
#include <warpmat/lower/list_internals.h>
#include <warpmat/program.h>

namespace warpmat::code {

/// A list of statements during resolution: what its users will see of it.
struct ListDraft {
  warpmat::Program& list;
  ProgramParts& program = ListInternals::parts(list);
  bool declares_registers = false;           ///< has a .reg: then every register must be declared
  const Target* given_target = nullptr;      ///< goes before the list's own; null: none is given
  bool declares = false;                     ///< the variables of the current declaration are right so far
  std::unordered_map<Value, int> numbers{};  ///< of named registers, among the program's

  std::string label{};  ///< of the next statement; empty if it has none
  // The current statement:
  std::optional<Instruction> instruction{};
  const Form* form = nullptr;  ///< of a matrix instruction, as its text names it
};

}  // namespace warpmat::code
