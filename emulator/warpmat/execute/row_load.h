#pragma once

#include <cstdint>

#include <warpmat/instruction.h>

namespace warpmat {

// ldmatrix by a caller that has found and checked the rows' addresses itself.

/// The kernel of an ldmatrix of 8x8 matrices of 16-bit elements whose hardware looks at the addresses of the rows alone, else nullptr.
const FastPath* find_row_kernel(const Instruction& instruction);

/// Copies rows to registers, 32 words each, that share no word with each other or with the rows. Row i is at memory + offsets[i]. False: it
/// has done nothing, as the CPU has no vectors.
bool load_rows(const FastPath& kernel, const std::uint8_t* memory, const std::uint32_t* offsets, std::uint32_t* const* registers);

}  // namespace warpmat
