#include "tools/gpu/report/form_selection.h"

#include <fmt/core.h>

#include <stdexcept>

#include "tools/report/pattern.h"

namespace warpmat {

std::vector<TestedForm> select_tested_forms(const Target& target, const std::string& pattern) {
  std::vector<TestedForm> selected = tested_forms(target);
  const Pattern forms(pattern);
  std::erase_if(selected, [&](const TestedForm& form) { return !forms.found_in(form.opcode()); });
  if (selected.empty())
    throw std::runtime_error(fmt::format("--forms '{}' selects no form of {}; 'warpmat list' shows all", pattern, target.name));
  return selected;
}

std::vector<const Form*> select_forms(const Target& target, const std::string& pattern) {
  std::vector<const Form*> selected;
  for (const TestedForm& form : select_tested_forms(target, pattern))
    if (form.warp() != nullptr) selected.push_back(form.warp());
  if (selected.empty())
    throw std::runtime_error(
        fmt::format("--forms '{}' selects only products of warpgroups, and this is for instructions of one warp", pattern));
  return selected;
}

}  // namespace warpmat
