#include "gpu/cases/tested_form.h"

#include "gpu/cases/cases.h"
#include "gpu/cases/wgmma_cases.h"

namespace warpmat {

Shard::Range TestedForm::cases_of(const Shard::Range& products) const {
  if (warpgroup() == nullptr) return products;
  const auto each = static_cast<std::uint64_t>(warpgroup()->tiles() * WgmmaForm::warps);
  const auto begin = [&](std::uint64_t product) { return (product + each - 1) / each; };
  const std::uint64_t first = begin(products.first);
  return {first, begin(products.first + products.count) - first};
}

std::vector<TestedForm> tested_forms(const Target& target) {
  std::vector<TestedForm> found;
  for (const Form& form : forms())
    if (!unavailable(form, target)) found.emplace_back(form);
  for (const WgmmaForm& form : wgmma_forms())
    if (!unavailable(form, target)) found.emplace_back(form);
  return found;
}

int variants(const TestedForm& form) {
  return form.warpgroup() != nullptr ? variants(*form.warpgroup()) : variants(*form.warp());
}

bool applies(const OperandClass& operand_class, const TestedForm& form) {
  return form.warpgroup() != nullptr ? applies(operand_class, *form.warpgroup()) : applies(operand_class, *form.warp());
}

}  // namespace warpmat
