#pragma once

#include <string_view>

#include <warpmat/warp.h>

namespace warpmat {

/// "out_of_range": the kind as Python and reports spell it.
[[nodiscard]] std::string_view name(Trap::Kind kind);

}  // namespace warpmat
