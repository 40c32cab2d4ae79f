#pragma once

#include <string>
#include <string_view>

#include <warpmat/export.h>
#include <warpmat/layout/memory_layout.h>
#include <warpmat/matrices/eigen.h>
#include <warpmat/numeric/format.h>
#include <warpmat/ptx/run.h>

namespace warpmat {

// A program's shared variables as logical matrices of doubles, stored in the variable by `layout`. All functions throw
// std::invalid_argument, listing what exists or naming what does not fit; their target is then unchanged. pack_rows (matrices/packing.h)
// makes rows of packed 6-bit elements.

/// Writes `matrix` into the variable `name`, rounded to `format`. Bytes without an element are unchanged. compare_operand then names the
/// matrix's element for rows that an ldmatrix has read from a wrong address.
void set_variable(Warp& warp, std::string_view name, const Eigen::MatrixXd& matrix, Format format, const MemoryLayout& layout = {});

/// Reads a matrix of `rows` rows and `columns` columns from the variable `name`.
[[nodiscard]] Eigen::MatrixXd get_variable(const Warp& warp, std::string_view name, int rows, int columns, Format format,
                                           const MemoryLayout& layout = {});

/// Empty if the variable holds `expected`, bit for bit after rounding to `format`, with all NaNs equal. Else a line for some of the wrong
/// elements, spread over all of them: their place, their value, and where that value belongs.
[[nodiscard]] std::string compare_variable(const Warp& warp, std::string_view name, const Eigen::MatrixXd& expected, Format format,
                                           const MemoryLayout& layout = {});

namespace numbers {

// The same without Eigen: see matrices/numbers.h.
WARPMAT_API void set_variable(Warp& warp, std::string_view name, const Matrix& matrix, Format format, const MemoryLayout& layout = {});
[[nodiscard]] WARPMAT_API Matrix get_variable(const Warp& warp, std::string_view name, int rows, int columns, Format format,
                                              const MemoryLayout& layout = {});
[[nodiscard]] WARPMAT_API std::string compare_variable(const Warp& warp, std::string_view name, const Matrix& expected, Format format,
                                                       const MemoryLayout& layout = {});

}  // namespace numbers

inline void set_variable(Warp& warp, std::string_view name, const Eigen::MatrixXd& matrix, Format format, const MemoryLayout& layout) {
  numbers::set_variable(warp, name, from_eigen(matrix), format, layout);
}
inline Eigen::MatrixXd get_variable(const Warp& warp, std::string_view name, int rows, int columns, Format format,
                                    const MemoryLayout& layout) {
  return to_eigen(numbers::get_variable(warp, name, rows, columns, format, layout));
}
inline std::string compare_variable(const Warp& warp, std::string_view name, const Eigen::MatrixXd& expected, Format format,
                                    const MemoryLayout& layout) {
  return numbers::compare_variable(warp, name, from_eigen(expected), format, layout);
}

}  // namespace warpmat
