#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <warpmat/execute/operands/batch.h>
#include <warpmat/forms.h>
#include <warpmat/instruction.h>

namespace warpmat {

class FastPath;

/// Products of the same 16 rows of A by consecutive 8 columns of B: what wgmma and tcgen05 consist of.
struct TileProducts {
  const Form& tile;  ///< mma.m16n8: a form of the table itself
  const Lowering& lowering;
  const FastPath* fast;  ///< of the two; nullptr if there is none
  int count;
};

/// D = A * B + D for each tile, or A * B if not `accumulates`. `d` are the registers of all tiles' D in order, 32 words each, `next_d`
/// words apart; `a` those of A; `b` those of all tiles' B. They share no word. `batch` has the operands that all tiles share, metadata
/// and selector, if A is sparse. Throws Trap for what the ISA leaves undefined, having changed nothing but `d`.
void multiply_tiles(const TileProducts& products, std::uint32_t* d, const std::uint32_t* a, const std::uint32_t* b, Batch& batch,
                    bool accumulates, const ExecutionOptions& options, std::ptrdiff_t next_d = warp_size);

/// The factors of a product in a chain: A, and all tiles' B.
struct TileFactors {
  const std::uint32_t *a, *b;
};

/// Dense products that follow each other, each on the D of the one before: at most max_chain. Returns false, having done nothing, where
/// there is no kernel for that.
bool multiply_chain(const TileProducts& products, std::uint32_t* d, std::ptrdiff_t next_d, std::span<const TileFactors> chain,
                    bool accumulates, const ExecutionOptions& options);

/// The same of dense products whose D is in registers anywhere. `d` shares no word with another one or with `a` and `b`.
void multiply_tiles(const TileProducts& products, RegisterList d, const std::uint32_t* a, const std::uint32_t* b, bool accumulates,
                    const ExecutionOptions& options);

}  // namespace warpmat
