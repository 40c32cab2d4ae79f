#pragma once

#include <array>
#include <string_view>

namespace warpmat {

// The names of a tensor map's modes in launch descriptions, in the order of TensorMap's enumerators.

inline constexpr std::array<std::string_view, 3> interleave_names{"none", "16B", "32B"};
inline constexpr std::array<std::string_view, 7> swizzle_names{
    "none", "32B", "64B", "128B", "128B_ATOM_32B", "128B_ATOM_32B_FLIP_8B", "128B_ATOM_64B"};  // swizzle_number()
inline constexpr std::array<std::string_view, 4> promotion_names{"none", "64B", "128B", "256B"};
inline constexpr std::array<std::string_view, 2> fill_names{"zeros", "nan"};

}  // namespace warpmat
