#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include <warpmat/execute/arguments.h>
#include <warpmat/layout/tensor_descriptor.h>
#include <warpmat/layout/tensor_memory.h>
#include <warpmat/tables/tcgen05.h>
#include <warpmat/warp/tensor_memory.h>

namespace warpmat {

// Executing a tcgen05.mma that its instruction descriptor has made a product (tables/tcgen05.h). The words of A and B are those of the
// registers of its tiles: of 16 rows or 8 columns each, in order.

using ProductWords = std::vector<std::uint32_t>;

/// Operand a or b from shared memory. Throws OperandTrap naming the operand if the descriptor does not fit the product, or if the matrix
/// leaves the memory.
ProductWords read_operand(const TensorProduct& product, OperandName operand, const TensorDescriptor& descriptor,
                          const SharedMemory& memory);

/// Operand a from tensor memory: 8 columns from `at` on, each row in its lane.
ProductWords read_operand_a(const TensorProduct& product, TensorCell at, const TensorMemory& memory);

/// The lanes of D that are not written, bit by lane.
using DisabledLanes = std::array<std::uint32_t, tensor_lanes / 32>;

/// D = A * B + D, or A * B if not `accumulates`; D begins at `at`. A word of D holds one element; of an f16 D its upper half becomes 0
/// (assumed). Precondition: D and A lie inside of tensor memory.
void multiply(const TensorProduct& product, TensorMemory& memory, TensorCell at, ProductWords a, const ProductWords& b, bool accumulates,
              const DisabledLanes& disabled, const ExecutionOptions& options = {});

/// Columns that D and A in tensor memory take.
inline int d_columns(const TensorProduct& product) {
  return product.shape.n;
}
inline constexpr int a_columns = 8;  ///< 32 bytes of K; 4- and 6-bit elements lie in bytes

}  // namespace warpmat
