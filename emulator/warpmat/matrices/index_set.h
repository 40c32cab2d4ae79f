#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace warpmat {

/// In words, which indices of an axis belong to a set: "every row", "row 3", "rows 8 to 15 of each 16", "rows 0 to 7 and 12". `name` is the
/// axis's singular. Sets without a pattern are counted: "37 of 128 rows, from 3 to 120". Precondition: the set has a member.
[[nodiscard]] std::string describe_indices(const std::vector<bool>& set, std::string_view name);

/// In words, where a matrix is true: `mask` has `columns` elements a row. "every element", "all of rows 8 to 15 of each 16", "nearly all
/// (97 %) of columns 64 to 127", "rows 0 to 7: columns 8 to 15; rows 8 to 15: columns 0 to 7", "above the diagonal". Precondition: one
/// element is true.
[[nodiscard]] std::string describe_mask(const std::vector<bool>& mask, std::size_t columns);

}  // namespace warpmat
