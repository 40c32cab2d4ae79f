#pragma once

#include <string>

#include "tools/report/warp_place.h"

namespace warpmat {

/// One --expect: PLACE=FILE.npy[:TOLERANCE].
class Expectation {
 public:
  /// `what` is FILE.npy[:TOLERANCE]: an absolute difference ("0.01"), or units in the last place of the expected number ("2ulp"). Reads the
  /// file. Throws std::runtime_error.
  Expectation(WarpPlace place, const std::string& what);

  /// Empty if the place holds the expected values; else a line for some of the wrong elements, in the format of compare_operand and
  /// compare_variable.
  std::string compare(const Warp& warp) const;

  /// explain_options() of the first wrong element; empty where nothing is wrong.
  std::string explain_options(const Program& program, const Warp& warp) const;

 private:
  bool close(std::uint64_t held, std::uint64_t wanted) const;
  std::string lines(const Warp& warp, const std::vector<std::uint64_t>& held, const std::vector<std::uint64_t>& wanted) const;

  WarpPlace place_;
  std::vector<std::uint64_t> wanted_;
  double tolerance_ = 0;
  bool in_ulps_ = false;
};

/// What 'warpmat explain' must be told to show element `index` of `place`: "--statement mma.0 --row 3 --column 5". Empty where the place is
/// no result of a matrix instruction with one matrix.
std::string explain_options(const Program& program, const WarpPlace& place, std::size_t index);

/// The number of steps between two bit patterns of the type; for plain bits and integers their difference. NaNs are equal to each other,
/// and farther from numbers than everything else.
double ulps_between(const ElementType& type, std::uint64_t a, std::uint64_t b);

}  // namespace warpmat
