#pragma once

#include <warpmat/layout/fragment.h>

#include <string>

namespace warpmat {

// A fragment in closed form, all of it derived from the fragment's rule over bits: place and element of every index bit.

/// Lane, register and bit from row and column, and back, as assignments in C: "lane = row % 8 * 4 + column / 2 % 4;", a line each. `bit` is
/// the lowest of the element's container. Copies do not change the element.
std::string layout_formulas(const Fragment& fragment);

/// CuTe's layout of threads and values, (thread, value) -> number of the element, column by column: "((4,8),(2,2,2)):((32,1),(16,8,128))".
/// `transposed`: row by row, as CuTe counts B (n + N * k) whose rows are k here. Values count the elements of a lane from the lowest bit of
/// its first register on; several matrices count on.
std::string cute_layout(const Fragment& fragment, bool transposed);

/// Triton's LinearLayout as it prints it: the element that each bit of register and lane leads to, "- register=1 -> (0, 1)". Registers
/// count the elements that a lane holds.
std::string linear_layout_text(const Fragment& fragment);

}  // namespace warpmat
