#pragma once

#include <warpmat/warp/warp.h>

#include <cstddef>
#include <span>
#include <vector>

#include "npy.h"

namespace warpmat {

/// The dtype of arrays of registers of 32 or 64 bits.
DType register_dtype(int register_bits);

/// The registers of an array whose last dimension is the 32 lanes, in its order. A uint64 register becomes two, low half first.
std::vector<Register> to_registers(const NpyArray& array);

/// The inverse: an array of `shape`, uint32, or uint64 where `register_bits` is 64.
NpyArray from_registers(std::span<const Register> registers, int register_bits, std::vector<std::size_t> shape);

}  // namespace warpmat
