#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include <warpmat/instruction.h>
#include <warpmat/layout/tensor_descriptor.h>
#include <warpmat/layout/tensor_memory.h>
#include <warpmat/layout/zero_columns.h>
#include <warpmat/tables/tcgen05.h>
#include <warpmat/warp/tensor_memory.h>

namespace warpmat {

// Executing a tcgen05.mma that its instruction descriptor has made a product (tables/tcgen05.h): the part of one block. The words of A and
// B are those of the registers of its tiles: of 16 rows or 8 columns each, in order.

using ProductWords = std::vector<std::uint32_t>;
using ProductBytes = std::vector<std::uint8_t>;

/// The block's rows of A from its shared memory. Throws Trap naming the operand if the descriptor does not fit the product, or if
/// the matrix leaves the memory.
ProductWords read_a(const TensorProduct& product, const TensorDescriptor& descriptor, const SharedMemory& memory);
/// The columns of B that one block has, from column `first_column` of its matrix on. Throws as read_a.
ProductWords read_b(const TensorProduct& product, const TensorDescriptor& descriptor, const SharedMemory& memory, int first_column = 0);

/// What read_a and read_b read: 16 bytes each, in their order. An element's row and column are m and k of A, k and n of B, k that of the
/// stored A, and n that of the matrix in memory.
std::vector<MemoryAccess> a_accesses(const TensorProduct& product, const TensorDescriptor& descriptor);
std::vector<MemoryAccess> b_accesses(const TensorProduct& product, const TensorDescriptor& descriptor, int first_column = 0);

/// The block's rows of A from tensor memory: a_columns() from `at` on, each row in its lane; with `shifted` (.ashift) each row is that of
/// the next lane, but for the last one. Throws Trap if the copies of A for the parts of D differ.
ProductWords read_a(const TensorProduct& product, TensorCell at, const TensorMemory& memory, bool shifted = false);

/// The scale factors of the block's rows of A (scale_a) or of all columns of B (scale_b): [line * scale_vector + factor]. Throws
/// Trap if copies that must be equal differ.
ProductBytes read_scales(const TensorProduct& product, OperandName operand, TensorCell at, const TensorMemory& memory);

/// The codes of the block's rows of a sparse A: [row * groups + group]. Throws as read_scales.
ProductBytes read_metadata(const TensorProduct& product, TensorCell at, const TensorMemory& memory);

/// Makes columns of B zero; `b` has all columns of the product.
void clear_columns(const TensorProduct& product, const ZeroColumns& columns, ProductWords& b);

struct ProductOperands {
  ProductWords a, b;                          ///< of the block; of all columns
  ProductBytes metadata, scales_a, scales_b;  ///< empty where the product has none
  bool accumulates = false;                   ///< else D = A * B
  int scale_d = 0;                            ///< D counts 2^-scale_d times

  friend bool operator==(const ProductOperands&, const ProductOperands&) = default;
};

/// The lanes of D that are not written, bit by lane.
using DisabledLanes = std::array<std::uint32_t, tensor_lanes / 32>;

/// D = A * B + D of one block; D begins at `at`. A word of D holds one element; of an f16 D its upper half becomes 0 (assumed). A scaled D
/// below the smallest normal number is rounded toward zero before (assumed). A group of a sparse A may have the code 0 if its elements are
/// zeros. Precondition: D and A lie inside of tensor memory.
void multiply(const TensorProduct& product, const ProductOperands& operands, TensorMemory& memory, TensorCell at,
              const DisabledLanes& disabled, const ExecutionOptions& options = {});

/// Columns of tensor memory that A takes: 32 bytes of K, or 48; 4- and 6-bit elements lie in bytes, but for kinds of 4 bits alone.
int a_columns(const TensorProduct& product);
/// Columns of tensor memory that scale factors of `operand` take.
int scale_columns(const TensorProduct& product, OperandName operand);
/// The first column of the metadata that an address names, and how many there are.
TensorCell metadata_cell(const TensorProduct& product, TensorCell at);
int metadata_columns(const TensorProduct& product);

/// tcgen05.cp with .b8x16.b4x16_p64 or .b8x16.b6x16_p32: sixteen elements of 4 or 6 bits, packed from byte 0 on, each in a byte as mma of
/// kind::f8f6f4 has it: e2m1 in bits 2 to 5 (the ISA's figures 195, 197 and 198 are lost; as ldmatrix of the same formats; assumed).
std::array<std::uint8_t, 16> unpacked(const std::uint8_t* chunk, int bits);

}  // namespace warpmat
