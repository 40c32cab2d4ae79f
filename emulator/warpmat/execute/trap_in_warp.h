#pragma once

#include <cstddef>
#include <cstdint>

#include <warpmat/text.h>
#include <warpmat/warp.h>

namespace warpmat::inline v0_1 {

/// `trap`, naming the warp.
inline Trap in_warp(const Trap& trap, std::size_t warp) {
  Trap named = trap.at(format_text("warp {}", warp));
  named.site.warp = static_cast<std::int64_t>(warp);
  return named;
}

}  // namespace warpmat::inline v0_1
