#pragma once

#include <warpmat/layout.h>

#include <string>

namespace warpmat {

// A fragment in closed form, derived from the fragment's index bits.

/// Lane, register and bit from row and column, and back, as assignments in C: "lane = row % 8 * 4 + column / 2 % 4;", one a line. `bit` is
/// the lowest bit of the element's container. Copies do not change the element.
std::string layout_formulas(const Fragment& fragment);

/// CuTe's layout of threads and values, (thread, value) -> number of the element in column-major order:
/// "((4,8),(2,2,2)):((32,1),(16,8,128))". `transposed` means row-major order, CuTe's numbering of B (n + N * k), whose rows are k here.
/// Values number the elements of a lane from the lowest bit of its first register; further matrices continue.
std::string cute_layout(const Fragment& fragment, bool transposed);

/// Triton's LinearLayout in its printed form: the element for each bit of register and lane, "- register=1 -> (0, 1)". Registers number the
/// elements of a lane.
std::string linear_layout_text(const Fragment& fragment);

}  // namespace warpmat
