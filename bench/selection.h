#pragma once

#include <string>
#include <vector>

#include <warpmat/forms.h>

namespace warpmat {

/// A form on a target.
struct Selected {
  const Form* form;
  const Target* target;
};

/// One or a few forms for each unit and generation.
std::vector<Selected> representative_selection();

/// Every form of `target` whose opcode matches the regular expression `pattern`. Without a target: the same for each hardware that executes
/// the form differently, with its oldest target. Throws std::runtime_error if nothing matches or `pattern` is not a regular expression.
std::vector<Selected> select(const std::string& pattern, const Target* target);

}  // namespace warpmat
