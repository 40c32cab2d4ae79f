#pragma once

#include <string>
#include <vector>

#include <warpmat/execute/arguments.h>
#include <warpmat/export.h>
#include <warpmat/matrices/eigen.h>

namespace warpmat {

// Fragments as logical matrices of doubles, which hold every element of every format exactly. A fragment of several matrices (ldmatrix .x2,
// .x4) is one matrix here, its matrices below each other.
//
// `format` says how the bits are read; it must be as wide as the fragment's elements. Register lists have Operand::words() registers.
// All of these throw std::invalid_argument that names the expected size.

/// Writes every element of `matrix` to its place, rounded to `format` (from_double).
void scatter(const Fragment& fragment, Format format, const Eigen::MatrixXd& matrix, RegisterList registers);

/// Reads every element.
[[nodiscard]] Eigen::MatrixXd gather(const Fragment& fragment, Format format, ConstRegisterList registers);

/// The same for one of a fragment's matrices, number `matrix_number`; the others stay as they are. So a selector's metadata (as u4) and
/// scale factors are written and read: there the number is what the selector or the ids select (metadata.h, scales.h).
void scatter_one(const Fragment& fragment, int matrix_number, Format format, const Eigen::MatrixXd& matrix, RegisterList registers);
[[nodiscard]] Eigen::MatrixXd gather_one(const Fragment& fragment, int matrix_number, Format format, ConstRegisterList registers);

/// One element that is not as expected.
struct Mismatch {
  Element element;
  Place place;
  double held, expected;
  std::vector<Element> held_belongs_to;  ///< where `expected` has the value that is held here
};

/// Compares what the registers hold with `expected`, bit for bit after rounding to `format`; all NaNs count as equal.
[[nodiscard]] std::vector<Mismatch> compare(const Fragment& fragment, Format format, ConstRegisterList registers,
                                            const Eigen::MatrixXd& expected);

/// The first `most` mismatches, a line each, for a test's report: "row 3, column 5 (lane 14, register 1) holds 2, expected 7; 2 belongs to
/// row 5, column 3 (lane 21, register 1)". Empty if there is none.
[[nodiscard]] WARPMAT_API std::string describe(const Fragment& fragment, const std::vector<Mismatch>& mismatches, std::size_t most = 8);

/// Sizes of the logical matrix of `fragment`, all its matrices below each other.
inline int matrix_rows(const Fragment& fragment) {
  return fragment.rows() * fragment.matrices();
}
inline int matrix_columns(const Fragment& fragment) {
  return fragment.columns();
}

namespace numbers {

// The same without Eigen: see numbers.h.
WARPMAT_API void scatter(const Fragment& fragment, Format format, const Matrix& matrix, RegisterList registers);
[[nodiscard]] WARPMAT_API Matrix gather(const Fragment& fragment, Format format, ConstRegisterList registers);
WARPMAT_API void scatter_one(const Fragment& fragment, int matrix_number, Format format, const Matrix& matrix, RegisterList registers);
[[nodiscard]] WARPMAT_API Matrix gather_one(const Fragment& fragment, int matrix_number, Format format, ConstRegisterList registers);
[[nodiscard]] WARPMAT_API std::vector<Mismatch> compare(const Fragment& fragment, Format format, ConstRegisterList registers,
                                                        const Matrix& expected);

/// Each element as `format` holds it.
[[nodiscard]] WARPMAT_API Matrix rounded(Format format, const Matrix& matrix);

}  // namespace numbers

inline void scatter(const Fragment& fragment, Format format, const Eigen::MatrixXd& matrix, RegisterList registers) {
  numbers::scatter(fragment, format, from_eigen(matrix), registers);
}
inline Eigen::MatrixXd gather(const Fragment& fragment, Format format, ConstRegisterList registers) {
  return to_eigen(numbers::gather(fragment, format, registers));
}
inline void scatter_one(const Fragment& fragment, int matrix_number, Format format, const Eigen::MatrixXd& matrix, RegisterList registers) {
  numbers::scatter_one(fragment, matrix_number, format, from_eigen(matrix), registers);
}
inline Eigen::MatrixXd gather_one(const Fragment& fragment, int matrix_number, Format format, ConstRegisterList registers) {
  return to_eigen(numbers::gather_one(fragment, matrix_number, format, registers));
}
inline std::vector<Mismatch> compare(const Fragment& fragment, Format format, ConstRegisterList registers,
                                     const Eigen::MatrixXd& expected) {
  return numbers::compare(fragment, format, registers, from_eigen(expected));
}

}  // namespace warpmat
