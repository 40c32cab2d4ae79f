#pragma once

#include <bit>
#include <cstdint>

#include <warpmat/numeric/exact.h>

namespace warpmat {

/// The position of the highest set bit plus one: 0 for 0, at most 128.
inline int bit_length(uint128 x) {
  const auto high = static_cast<std::uint64_t>(x >> 64);
  return static_cast<int>(high != 0 ? 64 + std::bit_width(high) : std::bit_width(static_cast<std::uint64_t>(x)));
}

}  // namespace warpmat
