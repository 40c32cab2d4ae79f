#pragma once

#include <cstdint>

namespace warpmat {

// canonical_nan() of the formats that kernels name where a function cannot be called; a test compares them.

inline constexpr std::uint32_t canonical_f32_nan = 0x7fffffff;
inline constexpr std::uint32_t canonical_half_nan = 0x7fff;  ///< of f16 and of bf16

}  // namespace warpmat
