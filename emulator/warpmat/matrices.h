#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <Eigen/Core>

#include <warpmat/formats.h>
#include <warpmat/forms.h>
#include <warpmat/instruction.h>
#include <warpmat/version.h>

// ---- Matrices without Eigen ----

namespace warpmat::numbers {

// Matrices of doubles without Eigen, for calls between the library and programs. Eigen's allocation depends on the compiler's flags for
// vector instructions (EIGEN_MAX_ALIGN_BYTES). A program compiled with other flags cannot free what the library allocates by Eigen. So
// functions of this namespace belong to the library; those with Eigen's matrices are inline and belong to the program.

/// A matrix in column-major order, as Eigen stores it.
class Matrix {
 public:
  Matrix() = default;
  /// All zero. Precondition: neither number is negative.
  Matrix(int rows, int columns)
      : rows_(rows), columns_(columns), values_(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns)) {}

  int rows() const { return rows_; }
  int columns() const { return columns_; }
  double& operator()(int row, int column) { return values_[index(row, column)]; }
  double operator()(int row, int column) const { return values_[index(row, column)]; }
  double* data() { return values_.data(); }
  const double* data() const { return values_.data(); }

 private:
  std::size_t index(int row, int column) const {
    return static_cast<std::size_t>(column) * static_cast<std::size_t>(rows_) + static_cast<std::size_t>(row);
  }

  int rows_ = 0, columns_ = 0;
  std::vector<double> values_;
};

}  // namespace warpmat::numbers

namespace warpmat {

// ---- Conversion ----

inline Eigen::MatrixXd to_eigen(const numbers::Matrix& matrix) {
  return Eigen::Map<const Eigen::MatrixXd>(matrix.data(), matrix.rows(), matrix.columns());
}

inline numbers::Matrix from_eigen(const Eigen::MatrixXd& matrix) {
  numbers::Matrix copy(static_cast<int>(matrix.rows()), static_cast<int>(matrix.cols()));
  std::copy_n(matrix.data(), matrix.size(), copy.data());
  return copy;
}

// ---- Matrices of an operand ----

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
/// written and read this way: the number is what the selector or the ids select (forms.h).
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

// The same without Eigen: see numbers::Matrix.
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

// ---- Packed rows ----

// Rows of 8-, 6- and 4-bit elements in shared memory, as ldmatrix reads them (PTX ISA 9.1 section 9.7.14.5.15): always 16 elements in 16
// bytes.
//
// The mma of kind::f8f6f4 and kind::mxf8f6f4 cannot use registers loaded by b4x16_p64 as they are. ldmatrix puts a 4-bit element into the
// low bits of its byte, but those kinds expect e2m1 in bits 2 to 5. shl.b32 by 2 moves every element there, as CUTLASS does. 6- and 8-bit
// elements need no shift.

/// The packing of 16 elements in 16 bytes, the first in the lowest bits.
enum class RowPacking : std::uint8_t {
  b8x16,      ///< a byte for each element: 8-bit formats, or fp6 and fp4 in the containers of kind::f8f6f4 (container_shift), ready for mma
  b6x16_p32,  ///< 6 bits for each element, then 4 bytes of padding
  b4x16_p64,  ///< 4 bits for each element, then 8 bytes of padding
};

/// PTX's spelling without the dot: "b6x16_p32".
[[nodiscard]] WARPMAT_API std::string_view name(RowPacking packing);

/// The bytes of `matrix`, row by row, its elements rounded to `format`; padding is zero. A row of c elements has c bytes; c must be a
/// multiple of 16. Throws std::invalid_argument for another number of columns, and for a format that `packing` does not support.
[[nodiscard]] std::vector<std::uint8_t> pack_rows(RowPacking packing, Format format, const Eigen::MatrixXd& matrix);

/// The matrix of `columns` columns in `bytes`; padding is ignored. Throws std::invalid_argument as pack_rows does, and if `bytes` has an
/// incomplete row.
[[nodiscard]] Eigen::MatrixXd unpack_rows(RowPacking packing, Format format, std::span<const std::uint8_t> bytes, int columns);

namespace numbers {

// The same without Eigen: see numbers::Matrix.
[[nodiscard]] WARPMAT_API std::vector<std::uint8_t> pack_rows(RowPacking packing, Format format, const Matrix& matrix);
[[nodiscard]] WARPMAT_API Matrix unpack_rows(RowPacking packing, Format format, std::span<const std::uint8_t> bytes, int columns);

}  // namespace numbers

inline std::vector<std::uint8_t> pack_rows(RowPacking packing, Format format, const Eigen::MatrixXd& matrix) {
  return numbers::pack_rows(packing, format, from_eigen(matrix));
}
inline Eigen::MatrixXd unpack_rows(RowPacking packing, Format format, std::span<const std::uint8_t> bytes, int columns) {
  return to_eigen(numbers::unpack_rows(packing, format, bytes, columns));
}

// ---- Sparse matrices ----

// Dense A to sparse A and back, for the forms of mma.sp (PTX ISA 9.1 section 9.7.14.6.1). In each group of a row, two of four elements may
// be nonzero. For tf32 it is one of two; for packed 4-bit types two pairs of four. Codes and groups: forms.h.
//
//   const SparseMatrix sparse = compress(form, a);
//   scatter(form.operand(OperandName::a).fragment, form.format(OperandName::a), sparse.stored, registers of a);
//   scatter_one(form.operand(OperandName::e).fragment, selector, Format::u4, sparse.metadata, register e);
//
// set_sparse_a (operands.h) does all three for a statement of a program.

/// The A of a sparse form in two parts, for operands a and e.
struct SparseMatrix {
  Eigen::MatrixXd stored;    ///< m x k/2: the stored elements, those of a group in ascending order of columns
  Eigen::MatrixXd metadata;  ///< m x k/metadata_group: the code of each group of a row, 0 to 15
};

/// Compresses the m x k matrix `a`, rounded to the format of the form's A. If a group has fewer nonzero elements than places, its first
/// zeros take the rest. So the ISA defines every code, and codes are ascending even if the form is not ordered. A zero without a place
/// loses its sign. Throws std::invalid_argument for a form that is not sparse, a matrix of another size, and a group with too many
/// elements; the message names row, group and columns.
[[nodiscard]] SparseMatrix compress(const Form& form, const Eigen::MatrixXd& a);

/// The m x k matrix that `sparse` represents: zero where no stored element belongs. Codes may be any that the ISA defines for `form`.
/// Throws std::invalid_argument for other codes, naming row and group, and for parts of another size.
[[nodiscard]] Eigen::MatrixXd expand(const Form& form, const SparseMatrix& sparse);

namespace numbers {

// The same without Eigen: see numbers::Matrix.
struct SparseMatrix {
  Matrix stored, metadata;
};
[[nodiscard]] WARPMAT_API SparseMatrix compress(const Form& form, const Matrix& a);
/// The same of a matrix of any number of rows, and of columns that are whole groups.
[[nodiscard]] WARPMAT_API SparseMatrix compress_groups(const Form& form, const Matrix& a);
[[nodiscard]] WARPMAT_API Matrix expand(const Form& form, const SparseMatrix& sparse);

}  // namespace numbers

inline SparseMatrix compress(const Form& form, const Eigen::MatrixXd& a) {
  const numbers::SparseMatrix sparse = numbers::compress(form, from_eigen(a));
  return {to_eigen(sparse.stored), to_eigen(sparse.metadata)};
}
inline Eigen::MatrixXd expand(const Form& form, const SparseMatrix& sparse) {
  return to_eigen(numbers::expand(form, {from_eigen(sparse.stored), from_eigen(sparse.metadata)}));
}

// ---- Differences ----

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
