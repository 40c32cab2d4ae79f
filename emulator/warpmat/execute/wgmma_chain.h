#pragma once

#include <cstddef>
#include <span>

#include <warpmat/execute/tile_products.h>
#include <warpmat/wgmma.h>

namespace warpmat {

/// The most products of a chain.
inline constexpr std::size_t most_in_chain = 4;

/// One warp's D = A * B + D for several products of one wgmma in their order, at most most_in_chain: the accumulators are read and written
/// once. The first one computes A * B if `accumulates` is false. Returns false, having done nothing, where only Wgmma::multiply can.
bool multiply_chain(const Wgmma& wgmma, RegisterList d, std::span<const TileFactors> chain, bool accumulates,
                    const ExecutionOptions& options);

}  // namespace warpmat
