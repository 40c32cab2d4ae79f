#pragma once

#include <functional>
#include <memory>
#include <vector>

#include <warpmat/diagnostic.h>
#include <warpmat/lower/context.h>

namespace warpmat::code {

/// Makes drafts of a module's functions. Appends errors to the list, or throws StatementError.
using Resolve = std::function<void(ProgramDraft&, std::vector<Diagnostic>&)>;

/// The program that `resolve` makes from `module` for `target`. Assigns places to all registers, constants, variables and labels of its
/// functions. Throws SyntaxError listing all errors.
/// `target` is null where an error says that there is none.
Program make_program(std::shared_ptr<const syntax::Module> module, const Target* target, const Resolve& resolve);

}  // namespace warpmat::code
