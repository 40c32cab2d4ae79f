#pragma once

#include <cstddef>
#include <cstdint>

#include <warpmat/text.h>
#include <warpmat/warp.h>

namespace warpmat {

/// `trap`, naming the warp.
inline Trap in_warp(const Trap& trap, std::size_t warp) {
  return trap.at(format_text("warp {}", warp), static_cast<std::int64_t>(warp));
}

}  // namespace warpmat
