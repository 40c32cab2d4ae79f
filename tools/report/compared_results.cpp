#include "tools/report/compared_results.h"

#include <algorithm>

#include "gpu/cases/cases.h"
#include "gpu/compare/compare.h"

namespace warpmat {
namespace {

// Cases of each form and class of operands in the sweeps of lab/notebook/2026-11-22-sweeps.md.
constexpr std::uint64_t cases = 88'064, cases_of_wmma = 10'000;

bool is_wmma(const Form& form) {
  return form.mnemonic == Mnemonic::wmma_load || form.mnemonic == Mnemonic::wmma_store || form.mnemonic == Mnemonic::wmma_mma;
}

}  // namespace

std::uint64_t compared_results(const Form& form) {
  const Target& card = *find_target("sm_90a");
  if (unavailable(form, card)) return 0;
  const auto classes = std::ranges::count_if(operand_classes(), [&](const OperandClass& c) { return applies(c, form); });
  const Program program = program_for(form, card);
  const WarpStates state = make_case(program, form, operand_classes().front(), 0, 0, 1, 0);
  return (is_wmma(form) ? cases_of_wmma : cases) * static_cast<std::uint64_t>(classes) * outputs_of(program).count(state);
}

std::uint64_t results_behind(Label label, const Form& form) {
  if (label == Label::measured) return compared_results(form);
  return label == Label::replayed ? published_results : 0;
}

}  // namespace warpmat
