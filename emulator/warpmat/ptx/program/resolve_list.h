#pragma once

#include <memory>

#include <warpmat/ptx/program.h>
#include <warpmat/ptx/program/code.h>
#include <warpmat/ptx/syntax/module.h>

namespace warpmat::code {

/// The statements of a list that are no matrix instructions as one function: they are the body of the only entry of `module`. Named
/// registers are words as a Warp has them, the first ones of the frame, which is as long as the list's register file before anything else:
/// a statement takes its predicates from a word, its 64-bit ones from two words, and puts them back. The address of a variable is a
/// relocation; Relocation::variable counts the list's variables. Throws SyntaxError.
Program resolve_list(std::shared_ptr<const syntax::Module> module, const warpmat::Program& list);

}  // namespace warpmat::code
