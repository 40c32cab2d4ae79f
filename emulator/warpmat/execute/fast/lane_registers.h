#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <type_traits>

#include <warpmat/execute/fast/fast.h>
#include <warpmat/instruction.h>

namespace warpmat::inline v0_1 {

/// One operand's registers of one warp in the caller's storage, described as in BasicRegisterView, and `staged`, where kernels read and
/// write them: 32 consecutive lanes for each register.
struct LaneRegisters {
  // No initial values: each call makes arrays of these and fills them as far as needed.
  std::uint32_t* words;
  std::ptrdiff_t word_stride, lane_stride;
  const std::uint16_t* numbers;
  Register* staged;
  int count;      ///< of words a lane
  bool in_place;  ///< kernels read and write them where they are, as lanes(); nothing is copied

  /// Word `index` of lane 0.
  std::uint32_t* word(int index) const { return words + (numbers == nullptr ? index : numbers[index]) * word_stride; }
  /// Empty if they are copied.
  LaneWords lanes() const { return in_place ? LaneWords{word(0), lane_stride} : LaneWords{}; }
};

/// Whether the `count` numbers, 2 or 4, are consecutive. It is one comparison because each call asks it for each operand.
template <int count>
bool count_up(const std::uint16_t* numbers) {
  using Numbers = std::conditional_t<count == 4, std::uint64_t, std::uint32_t>;
  constexpr auto ones = static_cast<Numbers>(0x0001000100010001), up = static_cast<Numbers>(0x0003000200010000);
  Numbers all;
  std::memcpy(&all, numbers, sizeof all);
  return numbers[0] <= UINT16_MAX - (count - 1) && all == static_cast<Numbers>(numbers[0] * ones + up);
}

/// Whether the words of a lane, one, two or a multiple of four, are consecutive, and no two lanes share a word.
inline bool is_lane_by_lane(const LaneRegisters& r) {
  if (r.word_stride != 1 || std::abs(r.lane_stride) < r.count) return false;
  if (r.numbers == nullptr || r.count == 1) return true;
  if (r.count == 2) return count_up<2>(r.numbers);
  if (!count_up<4>(r.numbers)) return false;
  for (int i = 4; i < r.count; i += 4)
    if (!count_up<4>(r.numbers + i) || r.numbers[i] != r.numbers[0] + i) return false;
  return true;
}

/// Copies every operand that is not in place to its staged registers, by vectors of lanes: kernels then read them with vectors of the same
/// size.
void fast_gather(std::span<const LaneRegisters> operands);
/// Copies one operand back. Overlapping words are written in the order of registers, and for each register of lanes. Precondition:
/// lane_stride is not 0.
void fast_scatter(const LaneRegisters& operand);

// The same lane by lane, without vectors.
void plain_gather(std::span<const LaneRegisters> operands);
void plain_scatter(const LaneRegisters& operand);

}  // namespace warpmat::inline v0_1
