#pragma once

#include <stdexcept>

namespace warpmat {

/// What target() throws for a name that is no target's; the C interface has a status of its own for it.
struct UnknownTarget : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

}  // namespace warpmat
