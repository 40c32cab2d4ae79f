#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <warpmat/formats.h>
#include <warpmat/layout.h>
#include <warpmat/matrices.h>
#include <warpmat/program.h>
#include <warpmat/version.h>

namespace warpmat {

// ---- A statement's operands ----

// The operands of a program's matrix instructions as logical matrices of doubles. `statement` counts the program's matrix instructions from
// 0; or one name selects operand and instruction, "mma.0.a" (program.h). Elements are read in the operand's own format. If the
// instruction only moves bits (ldmatrix, stmatrix, movmatrix), `format` is required. All functions throw std::invalid_argument, listing
// what exists; their target is then unchanged.

/// Writes `matrix` into the registers of an operand, rounded to its format.
void set_operand(Warp& warp, std::size_t statement, OperandName operand, const Eigen::MatrixXd& matrix, std::optional<Format> format = {});

/// Reads the matrix in an operand's registers.
[[nodiscard]] Eigen::MatrixXd get_operand(const Warp& warp, std::size_t statement, OperandName operand, std::optional<Format> format = {});

/// Empty if an operand's registers hold `expected`, bit for bit after rounding to the format. Else a line for each wrong element: its lane
/// and register, its value, and where that value belongs. If ldmatrix or ld.shared has loaded the registers, lines for some of the wrong
/// rows in memory precede them: the address, the element there, and the address of the expected values.
[[nodiscard]] std::string compare_operand(const Warp& warp, std::size_t statement, OperandName operand, const Eigen::MatrixXd& expected,
                                          std::optional<Format> format = {});

// The same for an operand by name: "mma.0.a", "ldmatrix.2.r".
inline void set_operand(Warp& warp, std::string_view place, const Eigen::MatrixXd& matrix, std::optional<Format> format = {}) {
  const OperandPlace found = find_operand_place(warp.program(), place);
  set_operand(warp, found.statement, found.operand, matrix, format);
}
[[nodiscard]] inline Eigen::MatrixXd get_operand(const Warp& warp, std::string_view place, std::optional<Format> format = {}) {
  const OperandPlace found = find_operand_place(warp.program(), place);
  return get_operand(warp, found.statement, found.operand, format);
}
[[nodiscard]] inline std::string compare_operand(const Warp& warp, std::string_view place, const Eigen::MatrixXd& expected,
                                                 std::optional<Format> format = {}) {
  const OperandPlace found = find_operand_place(warp.program(), place);
  return compare_operand(warp, found.statement, found.operand, expected, format);
}

/// The number of the matrix of an operand's fragment that the statement uses: selected by the selector for metadata, by the ids for scale
/// factors (ids in registers by their current values). Nothing if all of the fragment is used.
[[nodiscard]] WARPMAT_API std::optional<int> selected_matrix(const Warp& warp, std::size_t statement, OperandName operand);

/// Compresses the dense m x k matrix `a` (matrices.h) into operands a and e of a sparse mma, for the statement's selector. Parts of
/// e for other selectors are unchanged.
void set_sparse_a(Warp& warp, std::size_t statement, const Eigen::MatrixXd& a);

/// The dense A that operands a and e of a sparse mma represent.
[[nodiscard]] Eigen::MatrixXd get_sparse_a(const Warp& warp, std::size_t statement);

/// Writes the scale factors of a block-scaled mma, rounded to their format, at the places that the statement's {byte-id, thread-id} select.
/// Ids in registers must already be set. `scale` is scale_a with m x scale_vector factors, or scale_b with scale_vector x n. Parts of the
/// register for other ids are unchanged.
void set_scales(Warp& warp, std::size_t statement, OperandName scale, const Eigen::MatrixXd& scales);

/// The scale factors that a block-scaled mma reads.
[[nodiscard]] Eigen::MatrixXd get_scales(const Warp& warp, std::size_t statement, OperandName scale);

namespace numbers {

// The same without Eigen: see numbers::Matrix.
WARPMAT_API void set_operand(Warp& warp, std::size_t statement, OperandName operand, const Matrix& matrix,
                             std::optional<Format> format = {});
[[nodiscard]] WARPMAT_API Matrix get_operand(const Warp& warp, std::size_t statement, OperandName operand,
                                             std::optional<Format> format = {});
[[nodiscard]] WARPMAT_API std::string compare_operand(const Warp& warp, std::size_t statement, OperandName operand, const Matrix& expected,
                                                      std::optional<Format> format = {});
WARPMAT_API void set_sparse_a(Warp& warp, std::size_t statement, const Matrix& a);
[[nodiscard]] WARPMAT_API Matrix get_sparse_a(const Warp& warp, std::size_t statement);
WARPMAT_API void set_scales(Warp& warp, std::size_t statement, OperandName scale, const Matrix& scales);
[[nodiscard]] WARPMAT_API Matrix get_scales(const Warp& warp, std::size_t statement, OperandName scale);

}  // namespace numbers

inline void set_operand(Warp& warp, std::size_t statement, OperandName operand, const Eigen::MatrixXd& matrix,
                        std::optional<Format> format) {
  numbers::set_operand(warp, statement, operand, from_eigen(matrix), format);
}
inline Eigen::MatrixXd get_operand(const Warp& warp, std::size_t statement, OperandName operand, std::optional<Format> format) {
  return to_eigen(numbers::get_operand(warp, statement, operand, format));
}
inline std::string compare_operand(const Warp& warp, std::size_t statement, OperandName operand, const Eigen::MatrixXd& expected,
                                   std::optional<Format> format) {
  return numbers::compare_operand(warp, statement, operand, from_eigen(expected), format);
}
inline void set_sparse_a(Warp& warp, std::size_t statement, const Eigen::MatrixXd& a) {
  numbers::set_sparse_a(warp, statement, from_eigen(a));
}
inline Eigen::MatrixXd get_sparse_a(const Warp& warp, std::size_t statement) {
  return to_eigen(numbers::get_sparse_a(warp, statement));
}
inline void set_scales(Warp& warp, std::size_t statement, OperandName scale, const Eigen::MatrixXd& scales) {
  numbers::set_scales(warp, statement, scale, from_eigen(scales));
}
inline Eigen::MatrixXd get_scales(const Warp& warp, std::size_t statement, OperandName scale) {
  return to_eigen(numbers::get_scales(warp, statement, scale));
}

// ---- Shared variables ----

// A program's shared variables as logical matrices of doubles, stored in the variable by `layout`. All functions throw
// std::invalid_argument, listing what exists or naming what does not fit; their target is then unchanged. pack_rows (matrices.h)
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

// The same without Eigen: see numbers::Matrix.
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
