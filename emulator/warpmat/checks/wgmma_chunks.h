#pragma once

#include <cstdint>
#include <vector>

#include <warpmat/machine/warpgroup.h>

namespace warpmat::inline v0_1::checks {

inline constexpr std::uint32_t chunk_bytes = 16;  ///< contiguous bytes of shared memory, whatever the descriptor

/// The addresses of the chunks that warp `warp` of a block reads for operand a of a product; none if A is in registers.
inline std::vector<std::uint32_t> a_chunks(const machine::PendingProduct& product, int warp) {
  if (product.product->a_in_registers) return {};
  return product.product->instruction.a_chunks(product.a_descriptor, warp % WgmmaForm::warps);
}

inline std::vector<std::uint32_t> b_chunks(const machine::PendingProduct& product) {
  return product.product->instruction.b_chunks(product.b_descriptor);
}

}  // namespace warpmat::inline v0_1::checks
