#pragma once

#include <array>
#include <cstdint>

namespace warpmat {

/// The answer of clusterlaunchcontrol.try_cancel, which PTX calls opaque: %ctaid.x, .y and .z of the first block of the cancelled cluster,
/// then `cancelled_mark`, or 0 if none was cancelled.
using LaunchAnswer = std::array<std::uint32_t, 4>;
inline constexpr std::uint32_t cancelled_mark = 1;

}  // namespace warpmat
