#pragma once

#include <string>
#include <vector>

#include <warpmat/tables/form.h>

namespace warpmat {

/// A form as a target executes it.
struct Selected {
  const Form* form;
  const Target* target;
};

/// One form or a few for each unit and generation.
std::vector<Selected> representative_selection();

/// Every form of `target` in whose opcode the regular expression `pattern` is found; without a target the same for each hardware that
/// executes the form in another way, with its oldest target. Throws std::runtime_error where that is none or `pattern` is no regular
/// expression.
std::vector<Selected> select(const std::string& pattern, const Target* target);

}  // namespace warpmat
