#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <warpmat/execute/tile_products.h>
#include <warpmat/warp.h>
#include <warpmat/wgmma.h>

namespace warpmat {

// One warp's part of a wgmma, in two steps, because the hardware reads shared memory and writes registers at any time between the statement
// and the wait for it. The warps of a warpgroup share only the descriptors: each multiplies its 16 rows of A by all of B.

/// 32-bit words that read_a and read_b write: registers of 32 lanes, in the order of a tile's.
inline std::size_t a_words(const WgmmaForm& form) {
  return static_cast<std::size_t>(form.a_registers()) * warp_size;
}
inline std::size_t b_words(const WgmmaForm& form) {
  return static_cast<std::size_t>(form.tiles() * form.tile_b_registers()) * warp_size;
}

/// Reads the registers of A of warp `warp`, and those of B for all tiles in order, from `memory`. Throws Trap naming the operand and the
/// address if the matrix leaves the memory.
void read_a(const Wgmma& wgmma, const SharedMemory& memory, std::uint64_t descriptor, int warp, std::uint32_t* words);
void read_b(const Wgmma& wgmma, const SharedMemory& memory, std::uint64_t descriptor, std::uint32_t* words);

/// One warp's D = A * B + D, or A * B if `accumulates` (scale-d) is false. `d` are its d_registers() registers, `a` and `b` the output of
/// read_a and read_b, and `metadata` 32 words if A is sparse. Throws Trap for metadata that the ISA leaves undefined, having changed
/// nothing.
void multiply(const Wgmma& wgmma, RegisterList d, const std::uint32_t* a, const std::uint32_t* b, const std::uint32_t* metadata,
              bool accumulates, const ExecutionOptions& options = {});

/// The most products of a chain.
inline constexpr std::size_t most_in_chain = 4;

/// The same for several products of one wgmma in their order, at most most_in_chain: the accumulators are read and written once. The first
/// one computes A * B if `accumulates` is false. Returns false, having done nothing, where only multiply() can.
bool multiply_chain(const Wgmma& wgmma, RegisterList d, std::span<const TileFactors> chain, bool accumulates,
                    const ExecutionOptions& options);

}  // namespace warpmat
