#pragma once

#include <warpmat/warp.h>

#include <span>

#include "tools/report/npy.h"

namespace warpmat {

// An array of registers has the 32 lanes as its last dimension. A 32-bit one is a Register. A 64-bit one takes the space of two: 32 numbers
// of 64 bits in a file, two Registers, low half first, in a warp.

/// The dtype of arrays of registers of 32 or 64 bits.
DType register_dtype(int register_bits);

/// Converts 64-bit registers from the form of a file to that of a warp, in place.
void split_registers(std::span<Register> registers);

/// The inverse.
void join_registers(std::span<Register> registers);

}  // namespace warpmat
