#pragma once

#include <warpmat/program.h>
#include <warpmat/ptx/syntax/module.h>

namespace warpmat::code {

/// The program of a list, resolved as one function: the body of the only entry of its module. Named registers are words as in a Warp. They
/// come first in the frame, which begins with the list's register file. A scalar statement loads its predicates from a word and its 64-bit
/// registers from two words, and stores them back; a matrix instruction has words alone. The address of a variable is a relocation;
/// Relocation::variable counts the list's variables. `target` goes before the list's own; null: none is given. Throws SyntaxError listing
/// every wrong statement.
warpmat::Program resolve_list(syntax::List list, const Target* target);

}  // namespace warpmat::code
