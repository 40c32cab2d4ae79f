#pragma once

#include <fmt/core.h>
#include <warpmat/layout.h>

#include <stdexcept>

namespace warpmat::python {

/// The bytes of a swizzle's lines: 32, 64 or 128; 0 for none.
inline int bytes_of(Swizzle swizzle) {
  return swizzle == Swizzle::none ? 0 : 16 << static_cast<int>(swizzle);
}

inline Swizzle swizzle_of(int bytes) {
  for (const Swizzle swizzle : {Swizzle::none, Swizzle::bytes_32, Swizzle::bytes_64, Swizzle::bytes_128})
    if (bytes == bytes_of(swizzle)) return swizzle;
  throw std::invalid_argument(fmt::format("there is no swizzle of {} bytes: 0, 32, 64 and 128 would be right", bytes));
}

}  // namespace warpmat::python
