#pragma once

#include <algorithm>

#include <Eigen/Core>

#include <warpmat/matrices/numbers.h>

namespace warpmat {

inline Eigen::MatrixXd to_eigen(const numbers::Matrix& matrix) {
  return Eigen::Map<const Eigen::MatrixXd>(matrix.data(), matrix.rows(), matrix.columns());
}

inline numbers::Matrix from_eigen(const Eigen::MatrixXd& matrix) {
  numbers::Matrix copy(static_cast<int>(matrix.rows()), static_cast<int>(matrix.cols()));
  std::copy_n(matrix.data(), matrix.size(), copy.data());
  return copy;
}

}  // namespace warpmat
