#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <warpmat/instruction.h>

namespace warpmat::inline v0_1 {

/// One operand's registers of one warp in the caller's storage, described as in BatchRegisters, and `staged`, where kernels read and write
/// them: 32 consecutive lanes for each register.
struct LaneRegisters {
  // No initial values: each call makes arrays of these and fills them as far as needed.
  std::uint32_t* words;
  std::ptrdiff_t word_stride, lane_stride;
  const std::uint16_t* numbers;
  Register* staged;
  int count;             ///< of words a lane
  bool accumulator;      ///< for quads: the pairs are registers 0 and 2, 1 and 3; else 0 and 1, 2 and 3
  std::uint32_t* quads;  ///< if set, kernels may read and write four words here instead, as QuadWords

  /// Word `index` of lane 0.
  std::uint32_t* word(int index) const { return words + (numbers == nullptr ? index : numbers[index]) * word_stride; }
};

/// Copies every operand to its staged registers, by vectors of lanes: kernels then read them with vectors of the same size. An operand that
/// may be in quads and can be is copied there instead. `quads` of all others become nullptr, also those of `destination`.
void fast_gather(std::span<LaneRegisters> operands, LaneRegisters& destination);
/// Copies one operand back, from `quads` unless these are nullptr. Overlapping words are written in the order of registers, and for each
/// register of lanes. Precondition: lane_stride is not 0.
void fast_scatter(const LaneRegisters& operand);

// The same lane by lane, without vectors.
void plain_gather(std::span<const LaneRegisters> operands);
void plain_scatter(const LaneRegisters& operand);

}  // namespace warpmat::inline v0_1
