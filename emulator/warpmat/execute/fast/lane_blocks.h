#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <warpmat/execute/arguments.h>

namespace warpmat {

/// Registers of one operand that lie elsewhere than vectors want them: `words` of them (1, 2 or 4), side by side in each lane, the lanes
/// `lane_stride` words apart. `staged` are the same registers, the lanes of each side by side.
struct LaneBlock {
  // Without initial values: arrays of blocks are made for each call and filled as far as needed.
  std::uint32_t* first;  ///< lane 0 of the first register
  std::ptrdiff_t lane_stride;
  int words;
  Register* staged;
};

/// Copies every block to its staged registers, by vectors of lanes: kernels read them right after with vectors of the same size.
void fast_gather(std::span<const LaneBlock> blocks);
/// The inverse, block by block, lane 0 first. No block may have lane_stride 0.
void fast_scatter(std::span<const LaneBlock> blocks);

// The same lane by lane, without vectors.
void plain_gather(std::span<const LaneBlock> blocks);
void plain_scatter(std::span<const LaneBlock> blocks);

}  // namespace warpmat
