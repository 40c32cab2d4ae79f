#pragma once

#include <warpmat/tables/form.h>

#include <string>
#include <vector>

#include "gpu/cases/tested_form.h"

namespace warpmat {

/// The forms of `target` in whose opcode the regular expression `pattern` is found: --forms. Throws std::runtime_error where that is none,
/// or `pattern` is no regular expression.
std::vector<const Form*> select_forms(const Target& target, const std::string& pattern);

/// The same with those of wgmma behind them.
std::vector<TestedForm> select_tested_forms(const Target& target, const std::string& pattern);

}  // namespace warpmat
