#pragma once

#include <warpmat/formats.h>

#include <Eigen/Core>
#include <random>

/// A whole number from -3 to 3, or 0 to 3 where `format` has no sign: every format has these exactly, and no sum of their products rounds.
inline double small_number(warpmat::Format format, std::mt19937_64& random) {
  const bool is_signed = warpmat::row(format).is_signed;
  return static_cast<double>(random() % (is_signed ? 7 : 4)) - (is_signed ? 3 : 0);
}

inline Eigen::MatrixXd small_matrix(warpmat::Format format, int rows, int columns, std::mt19937_64& random) {
  return Eigen::MatrixXd::NullaryExpr(rows, columns, [&] { return small_number(format, random); });
}
