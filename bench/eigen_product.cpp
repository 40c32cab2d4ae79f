// Compiled once for each instruction set (CMakeLists.txt). It includes only Eigen: other inline definitions would be compiled for that set
// too, and the linker might keep such a copy for the whole program.

#include <Eigen/Core>

#include "eigen_product.h"

void WARPMAT_PRODUCT(const float* a, const float* b, float* c) {
  using Matrix = Eigen::MatrixXf;
  Eigen::Map<Matrix>(c, product_size, product_size).noalias() =
      Eigen::Map<const Matrix>(a, product_size, product_size) * Eigen::Map<const Matrix>(b, product_size, product_size);
}
