#include "tools/library/form_selection.h"

#include <fmt/format.h>

#include <regex>
#include <stdexcept>

#include "gpu/compare/sweep.h"

namespace warpmat {

std::vector<const Form*> select_forms(const Target& target, const std::string& pattern) {
  std::vector<const Form*> selected = forms_of(target);
  try {
    const std::regex regex(pattern);
    std::erase_if(selected, [&](const Form* form) { return !std::regex_search(form->opcode, regex); });
  } catch (const std::regex_error& e) {
    throw std::runtime_error(fmt::format("--forms '{}' is not a regular expression: {}", pattern, e.what()));
  }
  if (selected.empty())
    throw std::runtime_error(fmt::format("--forms '{}' selects no form of {}; 'warpmat list' shows all", pattern, target.name));
  return selected;
}

}  // namespace warpmat
