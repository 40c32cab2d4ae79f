#pragma once

// One mma whose bits tell the arithmetic of the library that executes it: on sm_90 the products 1 and 2^-22 are added with 25 bits below
// the larger one, so that the sum is 1 + 2^-22; with 20 bits it is 1.

#include <warpmat/instruction.h>

#include <array>
#include <cstdint>
#include <optional>

namespace package {

inline constexpr std::uint32_t sum_of_25_bits = 0x3f800002, sum_of_20_bits = 0x3f800000;

/// What all elements of D are on `path`, or nothing if they are not equal.
inline std::optional<std::uint32_t> sum_of_products(warpmat::Path path) {
  using namespace warpmat;
  const Instruction mma("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "sm_90a");
  std::array<std::uint32_t, 4 * warp_size> a{}, c{}, d{};
  std::array<std::uint32_t, 2 * warp_size> b{};
  for (std::size_t lane = 0; lane < warp_size; lane += 4) {  // these hold columns 0 and 1 of A, rows 0 and 1 of B
    a[lane] = a[warp_size + lane] = 0x0c003c00;              // 1 and 2^-12
    b[lane] = 0x14003c00;                                    // 1 and 2^-10
  }
  const std::array<RegisterView, 4> operands{d.data(), a.data(), b.data(), c.data()};
  Call call;
  call.operands = operands;
  mma.execute(call, 1, {.path = path});
  for (const std::uint32_t word : d)
    if (word != d[0]) return std::nullopt;
  return d[0];
}

}  // namespace package
