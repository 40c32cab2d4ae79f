#pragma once

#include <array>
#include <string_view>

namespace warpmat {

// What launch descriptions call the modes of a tensor map, in the order of TensorMap's enumerators.

inline constexpr std::array<std::string_view, 3> interleave_names{"none", "16B", "32B"};
inline constexpr std::array<std::string_view, 4> swizzle_names{"none", "32B", "64B", "128B"};
inline constexpr std::array<std::string_view, 4> promotion_names{"none", "64B", "128B", "256B"};
inline constexpr std::array<std::string_view, 2> fill_names{"zeros", "nan"};

}  // namespace warpmat
