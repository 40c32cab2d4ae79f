#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include <warpmat/ir/code.h>
#include <warpmat/ptx/syntax/module.h>

namespace warpmat::code {

struct ProgramDraft;

/// The entry that `name` means, as Kernel's constructor takes it. Throws std::invalid_argument.
const syntax::Function& find_entry(const syntax::Module& module, std::string_view name);

/// The GPU on which the module runs: `wanted`, where it is not null. PTX runs on its own target and on later ones, but code for one
/// architecture or family runs only there. Throws std::invalid_argument.
const Target& find_run_target(const syntax::Module& module, const Target* wanted);

/// The program of an entry. `target` is the GPU to emulate, or nullptr for the module's own .target; PTX for an older target runs on a
/// newer one. `assemble` does to the resolved functions what an assembler does to their bits. Throws SyntaxError listing every statement
/// that cannot be executed, and std::invalid_argument if there is no such entry or the target does not fit.
/// `keep_registers` as of KernelOptions.
Program resolve(std::shared_ptr<const syntax::Module> module, std::string_view entry, const Target* target,
                const std::function<void(ProgramDraft&)>& assemble, bool keep_registers = false);

/// The same of all functions that have a body and are no entries, whether or not an entry calls them: to be checked, not to be run.
Program resolve_functions(std::shared_ptr<const syntax::Module> module, const Target* target,
                          const std::function<void(ProgramDraft&)>& assemble);

/// The most threads of a block: the product of .maxntid, or what every GPU allows where one of them is 0 or the product is larger.
std::int64_t most_threads(const Limits& limits);

}  // namespace warpmat::code
