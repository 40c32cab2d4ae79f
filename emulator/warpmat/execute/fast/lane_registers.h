#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <warpmat/execute/arguments.h>

namespace warpmat {

/// One operand's registers of one warp where its caller keeps them, as BatchRegisters describes places, and where kernels read and write
/// them: `staged`, the lanes of each register side by side.
struct LaneRegisters {
  // Without initial values: arrays of these are made for each call and filled as far as needed.
  std::uint32_t* words;
  std::ptrdiff_t word_stride, lane_stride;
  const std::uint16_t* numbers;
  Register* staged;
  int count;             ///< of words a lane
  bool accumulator;      ///< of quads: the pairs are registers 0 and 2, 1 and 3; else 0 and 1, 2 and 3
  std::uint32_t* quads;  ///< where kernels may read and write four words instead, as QuadWords; nullptr: nowhere

  /// Word `index` of lane 0.
  std::uint32_t* word(int index) const { return words + (numbers == nullptr ? index : numbers[index]) * word_stride; }
};

/// Copies every operand to its staged registers, by vectors of lanes: kernels read them right after with vectors of the same size. Where an
/// operand may lie in quads and can, it is copied there instead. `quads` of all others become nullptr, also those of `destination`.
void fast_gather(std::span<LaneRegisters> operands, LaneRegisters& destination);
/// The inverse for one operand, whose lane_stride is not 0: as if register by register, lane 0 first. From `quads` if these are not
/// nullptr.
void fast_scatter(const LaneRegisters& operand);

// The same lane by lane, without vectors.
void plain_gather(std::span<const LaneRegisters> operands);
void plain_scatter(const LaneRegisters& operand);

}  // namespace warpmat
