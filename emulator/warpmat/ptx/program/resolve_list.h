#pragma once

#include <memory>

#include <warpmat/program.h>
#include <warpmat/ptx/program/code.h>
#include <warpmat/ptx/syntax/module.h>

namespace warpmat::inline v0_1::code {

/// Resolves the statements of a list as one function: the body of the only entry of `module`. Named registers are words as in a Warp. They
/// come first in the frame, which begins with the list's register file. A scalar statement loads its predicates from a word and its 64-bit
/// registers from two words, and stores them back; a matrix instruction has words alone. The address of a variable is a relocation;
/// Relocation::variable counts the list's variables. Throws SyntaxError.
Program resolve_list(std::shared_ptr<const syntax::Module> module, const warpmat::Program& list);

}  // namespace warpmat::inline v0_1::code
