#pragma once

#include <cstdint>
#include <vector>

#include <warpmat/execute/tcgen05.h>

namespace warpmat {

/// One tcgen05.mma m128n256k16 of kind::f16 with f32 sums, A and B in shared memory with a swizzle of 128 bytes; each D is the next C: as
/// many products as two of WarpgroupProduct.
class TensorCoreProduct {
 public:
  static constexpr int warpgroup_products = 2;

  TensorCoreProduct();

  /// Reads both operands and multiplies.
  void run();

 private:
  std::vector<std::uint8_t> bytes_;
  TensorProduct product_;
  TensorDescriptor a_, b_;
  TensorMemory memory_;
};

}  // namespace warpmat
