#pragma once

#include <algorithm>
#include <cstddef>

#include "gpu/runners/runner.h"

namespace warpmat {

/// The states of warp `warp` only.
inline WarpStates one_warp(const Program& program, const WarpStates& states, std::size_t warp) {
  WarpStates one(program, 1, states.shared_bytes);
  std::ranges::copy(states.registers_of(warp), one.registers.begin());
  std::ranges::copy(states.shared_of(warp), one.shared.begin());
  return one;
}

}  // namespace warpmat
