#pragma once

#include <warpmat/warp/warp.h>

#include <span>

#include "tools/report/npy.h"

namespace warpmat {

// An array of registers has the 32 lanes as its last dimension. One of 32 bits is a Register as it is; one of 64 bits takes the room of
// two, and holds 32 numbers of 64 bits in a file but two Registers, low half first, in a warp.

/// The dtype of arrays of registers of 32 or 64 bits.
DType register_dtype(int register_bits);

/// Turns registers of 64 bits from what a file holds into what a warp holds, in place.
void split_registers(std::span<Register> registers);

/// The inverse.
void join_registers(std::span<Register> registers);

}  // namespace warpmat
