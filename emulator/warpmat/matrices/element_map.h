#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warpmat {

/// Where elements of a matrix come from: for each element (row by row) the index of the element that stands in its place, as far as it is
/// known. An index is row * columns + column.
struct ElementMap {
  std::size_t rows = 0, columns = 0;
  std::vector<std::optional<std::size_t>> sources;
};

/// Whether element `from` of the matrix that is expected is what stands at `at`.
using StandsThere = std::function<bool(std::size_t at, std::size_t from)>;

/// The rule of a map in a sentence: "C[r,c] holds what belongs at C[r, c xor 8*(r mod 8)]", "the matrix is transposed", "row r holds row r
/// xor 4", "rows are permuted in groups of 8: ...". `stands` decides whether a rule holds: for nine tenths of the elements that are `wrong`
/// at least, of those that it takes from inside of the matrix. Nothing where no rule does.
[[nodiscard]] std::optional<std::string> describe_map(const ElementMap& map, const std::vector<bool>& wrong, const StandsThere& stands,
                                                      std::string_view name);

/// The map of `held` by values that occur once in `expected`: of single elements, or where most occur several times of groups of 2, 4, ...
/// neighbours in a row, up to a row. Both have rows * columns codes; equal codes are equal values.
[[nodiscard]] ElementMap map_by_values(const std::vector<std::uint64_t>& held, const std::vector<std::uint64_t>& expected, std::size_t rows,
                                       std::size_t columns);

}  // namespace warpmat
