#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <warpmat/instruction.h>
#include <warpmat/ir/code.h>
#include <warpmat/machine/tensor_core.h>

namespace warpmat::machine {

class WarpState;

// tcgen05.mma, .cp and .shift apart from the threads that issue them: where their operands are, what they take from shared memory, and what
// they do to tensor memory. Functions throw Trap for what a statement may not say.

inline constexpr int shifted_columns = 8;  ///< of tcgen05.shift: 32 bytes

/// The operands of a product as its statement gives them.
struct TensorOperands {
  std::uint32_t d = 0, metadata = 0, scale_a = 0, scale_b = 0;  ///< addresses of tensor memory
  std::uint64_t a = 0;                                          ///< its address, or its descriptor
  std::uint64_t b = 0;                                          ///< its descriptor
  std::uint32_t instruction = 0;                                ///< the instruction descriptor
  std::uint64_t mask = 0;                                       ///< of zero columns, if the statement has one
};

/// Those of the tcgen05.mma that a lane of the warp executes.
TensorOperands operands_of(const WarpState& warp, const code::Operation& operation, int lane);

/// Told of the columns from a cell on that the work touches, and of what they hold: "D".
using CheckColumns = std::function<void(TensorCell at, int columns, const char* what)>;

/// Decodes the instruction descriptor, and finds where the operands are in tensor memory. Precondition: work.group is set.
void place_product(const code::TensorStatement& statement, const TensorOperands& operands, const CheckColumns& check,
                   PendingTensorWork& work);
/// The rest of the operands: the descriptors of matrices, and the mask of columns.
void decode_matrices(const code::TensorStatement& statement, const TensorOperands& operands, PendingTensorWork& work);

void place_copy(const code::TensorStatement& statement, std::uint32_t to, const CheckColumns& check, PendingTensorWork& work);
void decode_source(std::uint64_t descriptor, PendingTensorWork& work);

/// The 32 lanes of a warp from the address on (assumed: the section's title speaks of a warp, and .4x256b writes one lane of each).
void place_shift(std::uint32_t address, const CheckColumns& check, PendingTensorWork& work);

/// What the work takes from the shared memory of each of its blocks.
SharedOperands shared_operands(const PendingTensorWork& work, std::span<const SharedMemory> blocks);

/// What it reads of the shared memory of one block, in order, the matrix unit's: 16 bytes each of A, then of B; of a copy the source.
std::vector<MemoryAccess> shared_accesses(const PendingTensorWork& work);

/// Does the work in block `number` of its blocks. Each has all of its own rows, and all columns of B.
void perform(const PendingTensorWork& work, std::size_t number, TensorMemory& memory, const ExecutionOptions& options);

}  // namespace warpmat::machine
