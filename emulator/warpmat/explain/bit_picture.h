#pragma once

#include <string>
#include <vector>

#include <warpmat/explain.h>

namespace warpmat {

/// One number of a matrix unit's register as bits in columns, from high to low.
struct BitRow {
  std::string name;  ///< "k = 3", "C", "sum", "f32"
  bool negative = false;
  std::string kept;  ///< a column for each bit of the register: 0, 1, or . above the number's first bit
  std::string cut;   ///< of terms: the truncated bits below the register
};

/// The terms, sum and result of a unit's step, one above the other.
struct BitPicture {
  int highest = 0, lowest = 0;  ///< exponents of the first and of the last column that the register keeps
  bool more_cut = false;        ///< further bits are truncated below the last column shown
  std::vector<BitRow> rows;     ///< the nonzero terms; then the sum, then the result
};

/// The picture of `step`, a unit_sum without special values and with a nonzero term.
BitPicture bit_picture(const ExplainedStep& step);

/// "k = 3", "k = 0 to 15", "C".
std::string term_name(const Term& term);

}  // namespace warpmat
