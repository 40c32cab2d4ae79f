#pragma once

#include <string>
#include <string_view>

#include <fmt/core.h>

#include <warpmat/forms.h>

namespace warpmat {

/// The directives with which a module begins.
inline std::string module_head(PtxVersion version, std::string_view target) {
  return fmt::format(".version {}\n.target {}\n.address_size 64\n", to_string(version), target);
}

}  // namespace warpmat
