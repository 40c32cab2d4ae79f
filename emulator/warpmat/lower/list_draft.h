#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <warpmat/lower/list_internals.h>
#include <warpmat/lower/operand_rules.h>
#include <warpmat/program.h>

namespace warpmat::code {

/// A list of statements during resolution: what its users will see of it, and what has been read of the current statement.
struct ListDraft {
  warpmat::Program& list;
  ProgramParts& program = ListInternals::parts(list);
  bool declares_registers = false;       ///< has a .reg: then every register must be declared
  const Target* given_target = nullptr;  ///< goes before the list's own; null: none is given
  bool declares = false;                 ///< the variables of the current declaration are right so far

  std::string label{};  ///< of the next statement; empty if it has none

  // The current statement:
  std::optional<Instruction> instruction{};
  const Form* form = nullptr;  ///< of a matrix instruction, as its text names it
  std::optional<Item> guard{};
  std::vector<OperandText> operands{};
  std::size_t argument = 0;  ///< of the scalar instruction's operands, that which is read
  bool in_pair = false;      ///< it stands in a|b
  bool reads_guard = false;

  /// What the rules about all items of the last operand ask of them.
  std::vector<SeatedItem> seated() const;
};

}  // namespace warpmat::code
