#include "tools/assembler/assembler.h"

#include <fmt/core.h>

#include <set>
#include <utility>

#include <warpmat/assembler/ptxas.h>
#include <warpmat/ir/code.h>
#include <warpmat/machine/internals.h>
#include <warpmat/ptx/syntax/module.h>

#include "tools/report/doubts.h"

namespace warpmat {

std::optional<AssembledKernel> kernel_by_ptxas(const Module& module, std::string_view entry, KernelOptions options) {
  const auto decisions = ask_ptxas(module, entry, options);
  if (!decisions) return std::nullopt;
  options.decisions = &*decisions;
  AssembledKernel made{Kernel(module, entry, options), decisions->assembler, {}};
  const code::Program& program = program_of(made.kernel);
  for (const std::uint32_t differs : program.differs) {
    const syntax::Statement& s = *program.statements[differs];
    made.remarks.push_back(
        fmt::format("line {}, {}: {} for {} decides otherwise than the rule of docs/reference/assembler.md: please file this as an issue",
                    s.location.line, s.opcode, made.assembler, program.target->name));
  }
  std::set<std::pair<std::uint32_t, code::Doubt::Why>> seen;
  for (const code::Doubt& doubt : program.doubted) {
    if (!seen.emplace(doubt.statement, doubt.why).second) continue;
    const syntax::Statement& s = *program.statements[doubt.statement];
    made.remarks.push_back(
        fmt::format("line {}, {}: {}: its bits may differ from a GPU's", s.location.line, s.opcode, doubt_text(doubt.why)));
    ++made.unsure;
  }
  return made;
}

std::string text_without_ptxas() {
  return fmt::format("{}: the rule of docs/reference/assembler.md decides", no_ptxas);
}

}  // namespace warpmat
