#include <warpmat/assembler/assemble.h>

#include <warpmat/assembler/constants.h>
#include <warpmat/assembler/contraction.h>
#include <warpmat/assembler/doubts.h>
#include <warpmat/assembler/reciprocals.h>
#include <warpmat/assembler/scaled_products.h>

namespace warpmat::code {

void assemble(ProgramDraft& draft, AssemblerOptions options, const AssemblerDecisions* decisions) {
  options |= options_of_module(*draft.program.module);
  if (decisions != nullptr) draft.program.assembler = decisions->assembler;
  // Without optimisation every statement has the instructions that it names.
  if (!options.optimise) return;
  for (DraftFunction& function : draft.functions) {
    note_doubts(function, draft);
    fold_constants(function, draft, decisions);
    remove_reciprocals(function, draft);
    if (!options.contract) continue;
    contract(function, draft, decisions);
    scale_products(function, draft, decisions);
  }
}

}  // namespace warpmat::code
