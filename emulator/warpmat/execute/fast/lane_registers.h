#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <type_traits>

#include <warpmat/execute/fast/fast.h>
#include <warpmat/instruction.h>

namespace warpmat {

/// The registers of one operand of one warp in the caller's storage, and `staged`, where kernels read and write them: 32 consecutive lanes
/// for each register.
struct LaneRegisters {
  LaneRegisters(const RegisterView& of_all, Register* copies, int words_of_lane, bool stays = false)
      : view(of_all), words(of_all.words()), staged(copies), count(words_of_lane), in_place(stays) {}

  RegisterView view;         ///< of all warps
  std::uint32_t* words;      ///< of the warp; nullptr of a list
  std::ptrdiff_t moved = 0;  ///< words from the first warp to the warp
  Register* staged;
  int count;      ///< of words a lane
  bool in_place;  ///< kernels read and write them where they are, as lanes(); nothing is copied

  void go_to(std::size_t warp) {
    moved = static_cast<std::ptrdiff_t>(warp * view.warp_stride());
    if (!view.is_list()) words = view.words() + moved;
  }
  /// Word `index` of lane 0.
  std::uint32_t* word(int index) const { return view.is_list() ? view.list().data()[index] + moved : strided_word(index); }
  /// The same. Precondition: it is no list.
  std::uint32_t* strided_word(int index) const {
    return words + (view.numbers() == nullptr ? index : view.numbers()[index]) * view.word_stride();
  }
  std::ptrdiff_t lane_stride() const { return view.lane_stride(); }
  /// The warp's words lane by lane, as kernels take them (Warps). Precondition: in_place.
  RegisterView lanes() const { return {strided_word(0), 0, 1, lane_stride()}; }
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

/// Whether the `count` words of a lane, one, two or a multiple of four, are consecutive, and no two lanes share a word.
inline bool is_lane_by_lane(const RegisterView& r, int count) {
  if (r.word_stride() != 1 || std::abs(r.lane_stride()) < count) return false;
  const std::uint16_t* const numbers = r.numbers();
  if (numbers == nullptr || count == 1) return true;
  if (count == 2) return count_up<2>(numbers);
  if (!count_up<4>(numbers)) return false;
  for (int i = 4; i < count; i += 4)
    if (!count_up<4>(numbers + i) || numbers[i] != numbers[0] + i) return false;
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

}  // namespace warpmat
