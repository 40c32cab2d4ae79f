#pragma once

#include <cstdint>

namespace warpmat {

/// The lowest `bits` bits are ones; from 64 on all.
constexpr std::uint64_t low_mask(int bits) {
  return bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
}

}  // namespace warpmat
