#pragma once

#include <cstddef>
#include <vector>

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
