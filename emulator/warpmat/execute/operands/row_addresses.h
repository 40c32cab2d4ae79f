#pragma once

#include <cstdint>

#include <warpmat/execute/operands/batch.h>
#include <warpmat/execute/operands/matrix_storage.h>
#include <warpmat/forms.h>
#include <warpmat/instruction.h>

namespace warpmat {

/// ldmatrix, stmatrix: lanes whose row addresses the hardware looks at, from lane 0 on.
int addressing_lanes(const Form& form, const Lowering& lowering);

// Of the first warp of a batch:

/// The memory that it addresses.
SharedMemory memory_of(const CallMemory& memory);

/// The row address of `lane`: p plus the offset.
std::uint64_t row_address(const Batch& batch, int lane);
/// The same. Throws Trap if it is misaligned.
std::uint64_t aligned_row_address(const Batch& batch, int lane);

/// wmma.load, wmma.store: the statement's matrix in memory. Throws Trap if address or stride differ between lanes, which the ISA
/// leaves undefined, or are not multiples of Form::memory_alignment.
MatrixStorage storage_of(const Form& form, const Batch& batch);

}  // namespace warpmat
