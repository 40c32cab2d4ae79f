#pragma once

#include <cmath>

namespace warpmat {

/// Whether a comparison of matrices takes both for the same: any two NaNs, and zeros of one sign.
inline bool same_number(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

}  // namespace warpmat
