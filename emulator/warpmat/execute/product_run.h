#pragma once

#include <cstddef>
#include <cstdint>

#include <warpmat/execute/fast/operand_views.h>
#include <warpmat/instruction.h>

namespace warpmat {

// Consecutive products of one warp, executed by one call of a kernel: it prepares once, and decodes an operand once that several have.

/// Consecutive statements of one mma, in their order.
struct ProductRun {
  static constexpr std::size_t most = 32;  ///< products

  const OperandViews& first;             ///< the lists of the first product; no two registers of one destination share a word
  std::size_t count;                     ///< products
  std::size_t step;                      ///< pointers in each list from a product's registers to the next one's
  std::uint32_t same_a = 0, same_b = 0;  ///< bit i: A's, or B's, registers are those of product i - 1, which does not write them
};

/// The kernel of an mma, or nullptr if it has none.
const FastPath* find_product_kernel(const Instruction& instruction);

/// Executes products in their order until the kernel declines one, which is then unchanged. Returns how many.
std::size_t execute(const FastPath& kernel, const ProductRun& run);

}  // namespace warpmat
