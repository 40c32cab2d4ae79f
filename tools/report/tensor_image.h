#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <warpmat/execute/tcgen05.h>
#include <warpmat/wgmma.h>

namespace warpmat {

// A tcgen05.mma with its operands as matrices, and how these lie in the memories of its blocks: A and B in shared memory, K-major without a
// swizzle; D, metadata and scale factors in tensor memory.

/// The bits of the operands' elements, row by row. A has the stored elements; metadata a code for each group; scale factors lie as A and B.
struct TensorMatrices {
  std::vector<std::uint64_t> a, b, d, e, scale_a, scale_b;
};

/// Rows and columns of a, b, d, e, scale_a or scale_b; of all blocks. Nothing, 0 by 0, if the product has no such operand.
MatrixExtent tensor_extent(const TensorProduct& product, OperandName operand);

/// The memories of one block before the product.
struct TensorImage {
  /// The first columns of operands in tensor memory.
  static constexpr int d_column = 0, e_column = 256, scale_a_column = 264, scale_b_column = 304;

  std::vector<std::uint8_t> a, b;  ///< the block's rows of A and columns of B
  TensorMemory memory;

  /// The descriptor of A or B at `start` in shared memory.
  static TensorDescriptor descriptor(const TensorProduct& product, OperandName operand, std::uint32_t start);
  /// The same as the 64 bits of the ISA.
  static std::uint64_t descriptor_bits(const TensorDescriptor& descriptor);
};

/// Block `block` of the product, 0 or 1. Precondition: A and B are not transposed, and the matrices have their extents.
TensorImage tensor_image(const TensorProduct& product, const TensorMatrices& matrices, int block);

/// The cell of D's element in its block: `row` of the block, `column` of the product; from D's first column on.
TensorCell d_cell(const TensorProduct& product, int row, int column);

/// D of all blocks, from images of the blocks. Throws Trap for what the ISA leaves undefined.
std::vector<std::uint64_t> multiplied(const TensorProduct& product, const TensorMatrices& matrices, bool accumulates,
                                      const ExecutionOptions& options = {});

}  // namespace warpmat
