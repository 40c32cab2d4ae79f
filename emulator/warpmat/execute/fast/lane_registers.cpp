// Copies registers from the caller's storage to the kernels' and back. Compiled once for each instruction set.

#include <warpmat/execute/fast/fast.h>
#include <warpmat/execute/fast/lane_registers.h>
#include <warpmat/numeric/kernels_target.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "warpmat/execute/fast/lane_registers.cpp"
#include <hwy/foreach_target.h>

#include <warpmat/execute/fast/lane_words-inl.h>
#include <warpmat/execute/fast/vectors-inl.h>

HWY_BEFORE_NAMESPACE();
namespace warpmat::HWY_NAMESPACE {
namespace {

#if HWY_TARGET == HWY_SCALAR

void gather(std::span<const LaneRegisters> operands) {
  plain_gather(operands);
}
void scatter(const LaneRegisters& operand) {
  plain_scatter(operand);
}

#else

template <int words>
HWY_INLINE void scatter_block(const Register* from, std::uint32_t* to, std::ptrdiff_t lane_stride) {
  for (int lane = 0; lane < warp_size; lane += vector_rows) {
    Word vectors[4];
    for (int i = 0; i < 4; ++i) vectors[i] = hn::Load(U32(), from[i < words ? i : 0].data() + lane);
    transpose_blocks(vectors);
    for (int i = 0; i < 4; ++i) store_every_fourth<words>(U32(), vectors[i], to + (lane + i) * lane_stride, lane_stride);
  }
}

HWY_INLINE void copy_lanes(const std::uint32_t* from, std::uint32_t* to) {
  for (int lane = 0; lane < warp_size; lane += vector_rows) hn::StoreU(hn::LoadU(U32(), from + lane), U32(), to + lane);
}

HWY_INLINE void repeat(std::uint32_t word, Register& to) {
  for (int lane = 0; lane < warp_size; lane += vector_rows) hn::Store(hn::Set(U32(), word), U32(), to.data() + lane);
}

/// The maximum number of words to copy as one block: 4 if they are consecutive in each lane. Lanes of a block do not overlap, so the order
/// of its words is not visible.
HWY_INLINE int largest_block(const LaneRegisters& operand) {
  if (operand.view.word_stride() != 1) return 1;
  const std::ptrdiff_t lane_stride = operand.lane_stride() < 0 ? -operand.lane_stride() : operand.lane_stride();
  return lane_stride < 4 ? static_cast<int>(lane_stride) : 4;
}

/// The number of words to copy as one block from `index` on: 4, 2 or 1, at most `most`.
HWY_INLINE int words_of_block(const std::uint16_t* numbers, int index, int most) {
  if (most >= 4 && (numbers == nullptr || count_up<4>(numbers + index))) return 4;
  return most >= 2 && (numbers == nullptr || count_up<2>(numbers + index)) ? 2 : 1;
}

/// Calls visit(index, words) for each block of an operand that is no list.
template <class Visit>
HWY_INLINE void for_each_block(const LaneRegisters& operand, Visit visit) {
  const int most = largest_block(operand);
  for (int index = 0; index < operand.count;) {
    const int words = words_of_block(operand.view.numbers(), index, HWY_MIN(most, operand.count - index));
    visit(index, words);
    index += words;
  }
}

HWY_NOINLINE void gather_list(const LaneRegisters& operand) {
  for (int i = 0; i < operand.count; ++i) copy_lanes(operand.word(i), operand.staged[i].data());
}
HWY_NOINLINE void scatter_list(const LaneRegisters& operand) {
  for (int i = 0; i < operand.count; ++i) copy_lanes(operand.staged[i].data(), operand.word(i));
}

HWY_INLINE void gather_operand(const LaneRegisters& operand) {
  if (operand.view.is_list()) return gather_list(operand);
  for_each_block(
      operand, [&](int index, int words) HWY_ATTR __attribute__((always_inline)) {
        const std::uint32_t* const from = operand.strided_word(index);
        Register* const to = operand.staged + index;
        if (words == 4)
          gather_block<4>(from, operand.lane_stride(), to);
        else if (words == 2)
          gather_block<2>(from, operand.lane_stride(), to);
        else if (operand.lane_stride() == 0)
          repeat(*from, *to);
        else if (operand.lane_stride() == 1)
          copy_lanes(from, to->data());
        else
          gather_block<1>(from, operand.lane_stride(), to);
      });
}

void gather(std::span<const LaneRegisters> operands) {
  for (const LaneRegisters& operand : operands)
    if (!operand.in_place) gather_operand(operand);
}

void scatter(const LaneRegisters& operand) {
  if (operand.view.is_list()) return scatter_list(operand);
  for_each_block(
      operand, [&](int index, int words) HWY_ATTR __attribute__((always_inline)) {
        const Register* const from = operand.staged + index;
        std::uint32_t* const to = operand.strided_word(index);
        if (words == 4)
          scatter_block<4>(from, to, operand.lane_stride());
        else if (words == 2)
          scatter_block<2>(from, to, operand.lane_stride());
        else if (operand.lane_stride() == 1)
          copy_lanes(from->data(), to);
        else
          scatter_block<1>(from, to, operand.lane_stride());
      });
}

#endif  // HWY_TARGET == HWY_SCALAR

}  // namespace
}  // namespace warpmat::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace warpmat {

HWY_EXPORT(gather);
HWY_EXPORT(scatter);

void fast_gather(std::span<const LaneRegisters> operands) {
  WARPMAT_KERNEL(gather)(operands);
}
void fast_scatter(const LaneRegisters& operand) {
  WARPMAT_KERNEL(scatter)(operand);
}

namespace {

/// Calls visit(word, staged) for each word of each lane.
template <typename Visit>
void for_each_word(const LaneRegisters& operand, Visit visit) {
  for (int i = 0; i < operand.count; ++i)
    for (std::size_t lane = 0; lane < warp_size; ++lane)
      visit(operand.word(i)[static_cast<std::ptrdiff_t>(lane) * operand.lane_stride()], operand.staged[i][lane]);
}

}  // namespace

void plain_gather(std::span<const LaneRegisters> operands) {
  for (const LaneRegisters& operand : operands)
    if (!operand.in_place) for_each_word(operand, [](const std::uint32_t& word, std::uint32_t& staged) { staged = word; });
}

void plain_scatter(const LaneRegisters& operand) {
  for_each_word(operand, [](std::uint32_t& word, std::uint32_t staged) { word = staged; });
}

}  // namespace warpmat
#endif
