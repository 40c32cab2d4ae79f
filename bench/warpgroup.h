#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <warpmat/instruction.h>
#include <warpmat/wgmma.h>

namespace warpmat {

/// One wgmma m64n256k16 of f16 by a warpgroup, with A and B in shared memory with a swizzle of 128 bytes; each D is the next C. Also its
/// products as mma m16n8k16, each on its own registers.
class WarpgroupProduct {
 public:
  static constexpr std::size_t warps = WgmmaForm::warps, tiles = 32, products = warps * tiles;

  WarpgroupProduct();

  /// The wgmma: reads both operands and multiplies.
  void run();
  /// The products alone, a batch of `products` mma on the same numbers.
  void run_products();

 private:
  Wgmma wgmma_;
  Instruction mma_;
  std::vector<std::uint8_t> memory_;
  std::vector<std::uint32_t> a_, b_, d_;                   ///< of the wgmma: a of one warp
  std::vector<std::uint32_t> of_mma_a_, of_mma_b_, sums_;  ///< of the products, consecutive
};

}  // namespace warpmat
