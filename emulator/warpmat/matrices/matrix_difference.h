#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <warpmat/export.h>
#include <warpmat/matrices/eigen.h>
#include <warpmat/numeric/format.h>

namespace warpmat {

// Whole matrices in memory, such as what a kernel wrote, against what was expected:
//
//     launch(kernel, config, memory, arguments);
//     CHECK(difference(memory.bytes(c, 4 * 128 * 128), Format::f32, a * b.transpose(), {.units = 2}).text == "");

/// By how much numbers may differ: all zero means not at all. Numbers are close if they are within `units` or within
/// absolute + relative * |expected|.
struct Tolerance {
  double units = 0;     ///< steps between neighbours of the format: units in the last place
  double relative = 0;  ///< of the expected number
  double absolute = 0;
  [[nodiscard]] bool exact() const { return units == 0 && relative == 0 && absolute == 0; }
};

/// A matrix as it is and as it should be: bytes in the order of the rows, elements below 8 bits packed, the first in the lowest bits.
struct MatrixPair {
  std::span<const std::uint8_t> held, expected;
  std::vector<std::size_t> shape;        ///< its last number is that of the columns; one number: a vector
  std::optional<Format> format;          ///< nothing: plain bits, which are equal or not
  int bits = 0;                          ///< of an element without format: 1 to 64
  std::span<const std::uint8_t> before;  ///< what was in the place of `held` before the launch; empty: unknown
  std::string_view name = "C";           ///< in the text
};

/// How they differ.
struct MatrixDifference {
  std::uint64_t elements = 0, wrong = 0;
  std::vector<std::size_t> first;  ///< the indices of the first wrong element; empty where nothing is wrong
  std::string text;                ///< empty where nothing is wrong
};

/// Compares bit for bit, where `tolerance` allows nothing; all NaNs are equal. The text has at most 10 lines: how many elements differ,
/// where (rows, columns or blocks, as a pattern), what the wrong ones hold where a rule is found (rows or columns permuted, a swizzle, a
/// transposed matrix, a factor, zeros), the first three with their distances, and the largest distance. Throws std::invalid_argument where
/// sizes do not fit.
[[nodiscard]] WARPMAT_API MatrixDifference difference(const MatrixPair& matrices, const Tolerance& tolerance = {});

/// The steps between two codes of a format: units in the last place; of integers their difference. 0 of two NaNs, infinity of a NaN and a
/// number.
[[nodiscard]] WARPMAT_API double units_between(Format format, std::uint64_t a, std::uint64_t b);

namespace numbers {

/// The bytes of `matrix` in the order of the rows, each element rounded to `format`.
[[nodiscard]] WARPMAT_API std::vector<std::uint8_t> row_bytes(Format format, const Matrix& matrix);

}  // namespace numbers

/// The same with an Eigen matrix, rounded to `format`.
inline MatrixDifference difference(std::span<const std::uint8_t> held, Format format, const Eigen::MatrixXd& expected,
                                   const Tolerance& tolerance = {}, std::string_view name = "C") {
  const std::vector<std::uint8_t> bytes = numbers::row_bytes(format, from_eigen(expected));
  return difference(
      {held, bytes, {static_cast<std::size_t>(expected.rows()), static_cast<std::size_t>(expected.cols())}, format, 0, {}, name},
      tolerance);
}

}  // namespace warpmat
