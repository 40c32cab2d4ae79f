#pragma once

#include <optional>
#include <string>

#include <warpmat/forms.h>
#include <warpmat/ptx/catalogue/catalogue.h>

namespace warpmat::catalogue {

/// Why `target` with that PTX version does not have the spelling, as one sentence; nothing if it has it. A row says which qualifiers a
/// statement may have; what some of them ask for together, or of the target, is a table in restrictions.cpp.
std::optional<std::string> refusal(const Match& match, const Target& target, PtxVersion version);

}  // namespace warpmat::catalogue
