#pragma once

#include <functional>
#include <memory>
#include <vector>

#include <warpmat/ptx/diagnostic.h>
#include <warpmat/ptx/program/function_resolver.h>

namespace warpmat::code {

/// Makes drafts of a module's functions, and adds what is wrong to the errors, or throws StatementError.
using Resolve = std::function<void(ProgramDraft&, std::vector<Diagnostic>&)>;

/// The program that `resolve` makes of `module` for `target`: all registers, constants, variables and labels of its functions get their
/// places. Throws SyntaxError with all that is wrong.
Program make_program(std::shared_ptr<const syntax::Module> module, const Target& target, const Resolve& resolve);

}  // namespace warpmat::code
