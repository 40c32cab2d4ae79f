#pragma once

#include <warpmat/export.h>
#include <warpmat/matrices/eigen.h>
#include <warpmat/tables/form.h>

namespace warpmat {

// Dense A to sparse A and back, for the forms of mma.sp (PTX ISA 9.1 section 9.7.14.6.1). In each group of a row, two of four elements may
// be nonzero. For tf32 it is one of two; for packed 4-bit types two pairs of four. Codes and groups: metadata.h.
//
//   const SparseMatrix sparse = compress(form, a);
//   scatter(form.operand(OperandName::a).fragment, form.format(OperandName::a), sparse.stored, registers of a);
//   scatter_one(form.operand(OperandName::e).fragment, selector, Format::u4, sparse.metadata, register e);
//
// set_sparse_a (ptx/operands.h) does all three for a statement of a program.

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

// The same without Eigen: see numbers.h.
struct SparseMatrix {
  Matrix stored, metadata;
};
[[nodiscard]] WARPMAT_API SparseMatrix compress(const Form& form, const Matrix& a);
[[nodiscard]] WARPMAT_API Matrix expand(const Form& form, const SparseMatrix& sparse);

}  // namespace numbers

inline SparseMatrix compress(const Form& form, const Eigen::MatrixXd& a) {
  const numbers::SparseMatrix sparse = numbers::compress(form, from_eigen(a));
  return {to_eigen(sparse.stored), to_eigen(sparse.metadata)};
}
inline Eigen::MatrixXd expand(const Form& form, const SparseMatrix& sparse) {
  return to_eigen(numbers::expand(form, {from_eigen(sparse.stored), from_eigen(sparse.metadata)}));
}

}  // namespace warpmat
