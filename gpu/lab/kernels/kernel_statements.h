#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "gpu/lab/kernels/kernel_drawing.h"
#include "gpu/lab/kernels/kernel_program.h"

namespace warpmat {

// The statements of random kernels by subject. Each function draws some.

inline KernelUnit unit_of(const Lines& lines) {
  return {{fmt::format("{}", fmt::join(lines, "\n"))}, {}};
}

// Of one thread, on registers (kernel_scalar_statements.cpp).
Lines scalar_statement(KernelDrawing& d);
std::string special_statement(KernelDrawing& d);

// Products and sums, which ptxas contracts (kernel_sums.cpp).

/// Products in registers of their own, and sums that use them: one to three, one behind neg, one of two products, or one with a rounding
/// modifier. Where a product has other uses beside these, ptxas 13.0 fuses none or some, depending on more than is known; and beside
/// branches it moves one sum in about 10^4 and does not fuse it: there only those with a rounding modifier are drawn
/// (docs/reference/numerics.md, "What ptxas contracts").
KernelUnit contraction(KernelDrawing& d);

/// One statement of those whose order and uses decide what ptxas fuses, on the registers that all others use too: so products have any
/// number of uses, in other blocks too, behind mov, neg and abs, with and without .ftz, guards and constants, or none. Of f64 without neg
/// and abs, which turn the sign of a NaN.
KernelUnit mixed_sum(KernelDrawing& d);

// On memory (kernel_memory_statements.cpp).
Lines memory_statements(KernelDrawing& d);
Lines own_access(KernelDrawing& d);
/// On the thread's own memory, where the order among threads does not show; without a result also on counters of all threads.
std::string atomic_statement(KernelDrawing& d);

// Of lanes and warps together (kernel_warp_statements.cpp). `depth`: of branches and loops around.
std::string vote_statement(KernelDrawing& d, int depth);
/// Only where all lanes are together: a lane may read from every other.
std::string shuffle_statement(KernelDrawing& d);
/// Lanes leave, or are read where they take no part.
std::string absence(KernelDrawing& d, int depth);
Lines barrier_statements(KernelDrawing& d);
Lines matrix_statements(KernelDrawing& d);

// Around the units (kernel_frame.cpp): buffers and their parameters; the text before the units, and behind them.
void add_buffers(KernelDrawing& d, KernelProgram& program);
std::string kernel_begin(const KernelDrawing& d);
std::string kernel_end();

}  // namespace warpmat
