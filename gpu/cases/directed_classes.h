#pragma once

#include "gpu/cases/operand_classes.h"

namespace warpmat {

// Operand classes that aim at the regions where the rules of a matrix unit differ from their nearest alternatives; random operands almost
// never reach most of them. They use the widths of formats, and one fact of the arithmetic: a sum of products is rounded to the
// accumulator's format. Drawing at all distances finds out which regions a unit has.

/// Powers of two and zeros. Each row of A and column of B has its own largest power, anywhere in its format's range, subnormal numbers
/// included. C is zero in three of four elements. Integers include the negated powers and the ends of the range.
std::uint64_t powers(const ElementSite& site);

/// Up to five nonzero products in each row and column, each in its own part of K:
///   largest    anywhere in the range that the formats reach
///   second     0 to 64 binades below it, or so far that it is the last bit of the result
///   remainder  0 to 64 binades below, mostly where the last bits are that a unit keeps
///   boundary   the last bit of the result, the half or the quarter of that; in half of the warps, of a subnormal or of the largest result
///   canceller  in half of the warps the opposite of the largest, so that the others remain (then the boundary has a part in larger forms
///   only)
/// In a quarter of the warps there is only the last bit of the smallest result, or one of the next two, and a remainder below it. One of
/// eight rows of A is zero, and one column of B. In one of eight warps some factors are infinite or zero, and some of C are infinite. C is
/// zero of either sign, tiny, as large as the largest product, far above, below it at any distance, a boundary itself, or the largest
/// number.
///
/// Integers: products whose sum with C ends on a limit of the accumulator, one unit beside it, or leaves the range and returns.
std::uint64_t ladder(const ElementSite& site);

}  // namespace warpmat
