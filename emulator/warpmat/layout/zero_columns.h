#pragma once

#include <cstdint>
#include <vector>

namespace warpmat {

/// A zero-column mask of tcgen05.mma.ws (PTX ISA 9.1 section 9.7.16.4.3): the columns of B that count as zero, and where B begins.
struct ZeroColumns {
  int shift = 0;           ///< the product's column 0 is this column of the B in memory
  std::vector<bool> zero;  ///< by column of the product
};

/// Decodes the mask of 64 bits for a product of `m` rows and `n` columns. The columns have 128 / m parts of equal size, each with its own
/// first span and start. Spans of use and of zeros alternate. Table 45 says of "Skip Span" that it counts used columns; the section's four
/// examples, whose masks this gives, count zeros by it.
ZeroColumns decode_zero_columns(std::uint64_t bits, int m, int n);

}  // namespace warpmat
