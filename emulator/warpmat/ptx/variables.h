#pragma once

#include <string>
#include <string_view>

#include <warpmat/export.h>
#include <warpmat/layout/memory_layout.h>
#include <warpmat/matrices/eigen.h>
#include <warpmat/numeric/format.h>
#include <warpmat/ptx/run.h>

namespace warpmat {

// A program's shared variables as logical matrices of doubles, which lie in the variable as `layout` says. All throw std::invalid_argument
// that names what exists, or what does not fit; what they write to is then unchanged. Rows of packed 6-bit elements are made by pack_rows
// (matrices/packing.h).

/// Writes `matrix` into the variable `name`, rounded to `format`. Bytes that hold no element stay. compare_operand then says of rows that
/// an ldmatrix has read from a wrong address, where in the matrix that is.
void set_variable(Warp& warp, std::string_view name, const Eigen::MatrixXd& matrix, Format format, const MemoryLayout& layout = {});

/// Reads a matrix of `rows` rows and `columns` columns from the variable `name`.
[[nodiscard]] Eigen::MatrixXd get_variable(const Warp& warp, std::string_view name, int rows, int columns, Format format,
                                           const MemoryLayout& layout = {});

/// Empty if the variable holds `expected`, bit for bit after rounding to `format`, all NaNs being equal. Else a line for some of the wrong
/// elements, spread over all of them: where they lie, what they hold, and where that belongs.
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
