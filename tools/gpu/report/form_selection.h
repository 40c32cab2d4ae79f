#pragma once

#include <warpmat/forms.h>

#include <string>
#include <vector>

#include "gpu/cases/tested_form.h"

namespace warpmat {

/// The forms of `target` whose opcode matches the regular expression `pattern`: --forms. Throws std::runtime_error if nothing matches, or
/// `pattern` is not a regular expression.
std::vector<const Form*> select_forms(const Target& target, const std::string& pattern);

/// The same, followed by those of wgmma.
std::vector<TestedForm> select_tested_forms(const Target& target, const std::string& pattern);

}  // namespace warpmat
