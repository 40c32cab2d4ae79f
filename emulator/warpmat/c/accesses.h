#pragma once

#include <algorithm>
#include <bit>
#include <span>
#include <vector>

#include <warpmat/c.h>

#include <warpmat/instruction.h>

namespace warpmat::c {

constexpr warpmat_space space_of(Space space) {
  switch (space) {
    case Space::generic: break;
    case Space::global: return WARPMAT_SPACE_GLOBAL;
    case Space::constant: return WARPMAT_SPACE_CONSTANT;
    case Space::shared: return WARPMAT_SPACE_SHARED;
    case Space::local: return WARPMAT_SPACE_LOCAL;
    case Space::param: return WARPMAT_SPACE_PARAM;
  }
  return WARPMAT_SPACE_GENERIC;
}
static_assert([] {
  unsigned numbers = 0;
  for (const Space space : {Space::generic, Space::global, Space::constant, Space::shared, Space::local, Space::param})
    numbers |= 1U << space_of(space);
  return std::popcount(numbers) == 6;
}());  // each has its own

inline warpmat_memory_access access_of(const MemoryAccess& access) {
  return {access.address,
          access.bytes,
          space_of(access.space),
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

}  // namespace warpmat::c
