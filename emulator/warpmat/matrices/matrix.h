#pragma once

#include <string>
#include <vector>

#include <warpmat/execute/arguments.h>
#include <warpmat/export.h>
#include <warpmat/matrices/eigen.h>

namespace warpmat {

// Fragments as logical matrices of doubles, which represent every element of every format exactly. A fragment of several matrices (ldmatrix
// .x2, .x4) is one matrix here: its matrices stacked vertically.
//
// `format` says how to read the bits. It must be as wide as the fragment's elements. Register lists have Operand::words() registers. All
// functions here throw std::invalid_argument for wrong sizes; the message names the expected size.

/// Writes every element of `matrix` to its place, rounded to `format` (from_double).
void scatter(const Fragment& fragment, Format format, const Eigen::MatrixXd& matrix, RegisterList registers);

/// Reads every element.
[[nodiscard]] Eigen::MatrixXd gather(const Fragment& fragment, Format format, ConstRegisterList registers);

/// The same for matrix `matrix_number` of a fragment; the others are unchanged. Metadata (as u4) and scale factors of a selector are
/// written and read this way: the number is what the selector or the ids select (metadata.h, scales.h).
void scatter_one(const Fragment& fragment, int matrix_number, Format format, const Eigen::MatrixXd& matrix, RegisterList registers);
[[nodiscard]] Eigen::MatrixXd gather_one(const Fragment& fragment, int matrix_number, Format format, ConstRegisterList registers);

/// One element that differs from the expected one.
struct Mismatch {
  Element element;
  Place place;
  double held, expected;
  std::vector<Element> held_belongs_to;  ///< the elements whose expected value is held here
};

/// Compares the registers with `expected`, bit for bit after rounding to `format`. All NaNs count as equal.
[[nodiscard]] std::vector<Mismatch> compare(const Fragment& fragment, Format format, ConstRegisterList registers,
                                            const Eigen::MatrixXd& expected);

/// At most `most` mismatches, one a line, for a test's report: "row 3, column 5 (lane 14, register 1) holds 2, expected 7; 2 belongs to row
/// 5, column 3 (lane 21, register 1)". Empty if there is none.
[[nodiscard]] WARPMAT_API std::string describe(const Fragment& fragment, const std::vector<Mismatch>& mismatches, std::size_t most = 8);

/// Sizes of the logical matrix of `fragment`, its matrices stacked vertically.
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

/// Each element rounded to `format`.
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
