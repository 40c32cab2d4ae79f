#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include <warpmat/c.h>

#include <warpmat/instruction.h>

namespace warpmat::inline v0_1::c {

inline warpmat_memory_access access_of(const MemoryAccess& access) {
  const warpmat_space space = access.space == AddressSpace::shared   ? WARPMAT_SPACE_SHARED
                              : access.space == AddressSpace::global ? WARPMAT_SPACE_GLOBAL
                                                                     : WARPMAT_SPACE_GENERIC;
  return {access.address,
          access.bytes,
          space,
          access.writes,
          static_cast<warpmat_operand>(access.operand),
          {access.lane, access.reg, access.bit},
          {access.element.row, access.element.column, access.element.matrix}};
}

/// As many of `all` as `list` holds.
inline void copy_accesses(const std::vector<MemoryAccess>& all, std::span<warpmat_memory_access> list) {
  const auto count = static_cast<std::ptrdiff_t>(std::min(all.size(), list.size()));
  std::transform(all.begin(), all.begin() + count, list.begin(), access_of);
}

}  // namespace warpmat::inline v0_1::c
