#pragma once

#include <cstdint>
#include <string>

#include "machine/kernel.h"

namespace warpmat::nan_kernel {

/// A signalling NaN, the same with its sign turned, and the NaN of the machine's f32.
inline constexpr std::uint32_t payload = 0xff812345, turned = 0x7f812345, canonical = 0x7fffffff;

/// What `body` leaves in %d of a thread where %f1 holds `bits`, which ptxas does not know, and %f2 holds 32. %p1 holds, %p2 does not.
inline std::uint32_t word_of(const std::string& body, std::uint32_t bits = payload) {
  const std::string start = "shr.u32 %r1, %n, 20; add.u32 %r2, %r1, " + std::to_string(bits) +
                            "; mov.b32 %f1, %r2; cvt.rn.f32.u32 %f2, %n; setp.eq.u32 %p1, %r1, 0; setp.ne.u32 %p2, %r1, 0;\n";
  return words_of(word_kernel(start + body), {1}, {32})[5];
}

}  // namespace warpmat::nan_kernel
