#include "tools/gpu/report/wgmma_families.h"

#include <algorithm>

#include <fmt/core.h>

namespace warpmat {

std::vector<WgmmaFamily> wgmma_families() {
  std::vector<WgmmaFamily> families;
  for (const WgmmaForm& form : wgmma_forms()) {
    const std::string shape = fmt::format("n{}k", form.shape.n);
    std::string pattern = form.opcode;
    pattern.replace(pattern.find(shape), shape.size(), "nNk");
    const auto same = std::ranges::find(families, pattern, &WgmmaFamily::pattern);
    (same == families.end() ? families.emplace_back(WgmmaFamily{pattern, {}}) : *same).forms.push_back(&form);
  }
  return families;
}

}  // namespace warpmat
