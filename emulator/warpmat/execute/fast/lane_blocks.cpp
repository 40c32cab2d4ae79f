// Registers from where a caller keeps them to where kernels read them, and back. Compiled once for each instruction set.
//
// Four lanes' pieces of up to four registers are a 4x4 matrix of words, which is transposed in vectors: as many such matrices side by side
// as a vector of lanes has blocks of 128 bits.

#include <cstring>

#include <warpmat/execute/fast/dispatch.h>
#include <warpmat/execute/fast/lane_blocks.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "warpmat/execute/fast/lane_blocks.cpp"
#include <hwy/foreach_target.h>

#include <warpmat/execute/fast/vectors-inl.h>

HWY_BEFORE_NAMESPACE();
namespace warpmat::HWY_NAMESPACE {
namespace {

#if HWY_TARGET == HWY_SCALAR

void gather(std::span<const LaneBlock> blocks) {
  plain_gather(blocks);
}
void scatter(std::span<const LaneBlock> blocks) {
  plain_scatter(blocks);
}

#else

using Piece = hn::Full128<std::uint32_t>;  // up to four registers of one lane

/// The `words` words at `from`, repeated until the vector is full.
template <int words>
HWY_INLINE hn::Vec<Piece> load_piece(const std::uint32_t* from) {
  if constexpr (words == 4) return hn::LoadU(Piece(), from);
  if constexpr (words == 1) return hn::Set(Piece(), *from);
  std::uint64_t two;
  std::memcpy(&two, from, sizeof two);
  return hn::BitCast(Piece(), hn::Set(hn::Full128<std::uint64_t>(), two));
}

template <int words>
HWY_INLINE void store_piece(hn::Vec<Piece> piece, std::uint32_t* to) {
  if constexpr (words == 4) return hn::StoreU(piece, Piece(), to);
  if constexpr (words == 1) {
    *to = hn::GetLane(piece);
    return;
  }
  const std::uint64_t two = hn::GetLane(hn::BitCast(hn::Full128<std::uint64_t>(), piece));
  std::memcpy(to, &two, sizeof two);
}

/// The pieces of lanes 0, 4, 8, … from `from` on, as many as the vectors of `d` hold.
template <int words, class D>
HWY_INLINE hn::Vec<D> load_every_fourth(D d, const std::uint32_t* from, std::ptrdiff_t lane_stride) {
  if constexpr (hn::MaxLanes(d) == 4) {
    return load_piece<words>(from);
  } else {
    const hn::Half<D> half;
    constexpr auto lanes_of_half = static_cast<std::ptrdiff_t>(hn::MaxLanes(half));
    return hn::Combine(d, load_every_fourth<words>(half, from + lanes_of_half * lane_stride, lane_stride),
                       load_every_fourth<words>(half, from, lane_stride));
  }
}

template <int words, class D>
HWY_INLINE void store_every_fourth(D d, hn::Vec<D> pieces, std::uint32_t* to, std::ptrdiff_t lane_stride) {
  if constexpr (hn::MaxLanes(d) == 4) {
    store_piece<words>(pieces, to);
  } else {
    const hn::Half<D> half;
    constexpr auto lanes_of_half = static_cast<std::ptrdiff_t>(hn::MaxLanes(half));
    store_every_fourth<words>(half, hn::LowerHalf(half, pieces), to, lane_stride);
    store_every_fourth<words>(half, hn::UpperHalf(half, pieces), to + lanes_of_half * lane_stride, lane_stride);
  }
}

/// Transposes the 4x4 matrices of words of which row i is a block of rows[i].
HWY_INLINE void transpose_blocks(Word* rows) {
  const hn::Repartition<std::uint64_t, U32> d64;
  const auto even_low = hn::BitCast(d64, hn::InterleaveLower(rows[0], rows[1])),
             even_high = hn::BitCast(d64, hn::InterleaveUpper(U32(), rows[0], rows[1])),
             odd_low = hn::BitCast(d64, hn::InterleaveLower(rows[2], rows[3])),
             odd_high = hn::BitCast(d64, hn::InterleaveUpper(U32(), rows[2], rows[3]));
  rows[0] = hn::BitCast(U32(), hn::InterleaveLower(even_low, odd_low));
  rows[1] = hn::BitCast(U32(), hn::InterleaveUpper(d64, even_low, odd_low));
  rows[2] = hn::BitCast(U32(), hn::InterleaveLower(even_high, odd_high));
  rows[3] = hn::BitCast(U32(), hn::InterleaveUpper(d64, even_high, odd_high));
}

template <int words>
HWY_INLINE void gather_block(const LaneBlock& block) {
  for (int lane = 0; lane < lanes; lane += vector_rows) {
    Word vectors[4];
    for (int i = 0; i < 4; ++i)
      vectors[i] = load_every_fourth<words>(U32(), block.first + (lane + i) * block.lane_stride, block.lane_stride);
    transpose_blocks(vectors);
    for (int i = 0; i < words; ++i) hn::Store(vectors[i], U32(), block.staged[i].data() + lane);
  }
}

template <int words>
HWY_INLINE void scatter_block(const LaneBlock& block) {
  for (int lane = 0; lane < lanes; lane += vector_rows) {
    Word vectors[4];
    for (int i = 0; i < 4; ++i) vectors[i] = hn::Load(U32(), block.staged[i < words ? i : 0].data() + lane);
    transpose_blocks(vectors);
    for (int i = 0; i < 4; ++i)
      store_every_fourth<words>(U32(), vectors[i], block.first + (lane + i) * block.lane_stride, block.lane_stride);
  }
}

HWY_INLINE void copy_lanes(const std::uint32_t* from, std::uint32_t* to) {
  for (int lane = 0; lane < lanes; lane += vector_rows) hn::StoreU(hn::LoadU(U32(), from + lane), U32(), to + lane);
}

HWY_INLINE void repeat(const std::uint32_t* from, Register* to, int words) {
  for (int i = 0; i < words; ++i)
    for (int lane = 0; lane < lanes; lane += vector_rows) hn::Store(hn::Set(U32(), from[i]), U32(), to[i].data() + lane);
}

void gather(std::span<const LaneBlock> blocks) {
  for (const LaneBlock& block : blocks) {
    if (block.lane_stride == 0)
      repeat(block.first, block.staged, block.words);
    else if (block.lane_stride == 1 && block.words == 1)
      copy_lanes(block.first, block.staged->data());
    else if (block.words == 4)
      gather_block<4>(block);
    else if (block.words == 2)
      gather_block<2>(block);
    else
      gather_block<1>(block);
  }
}

void scatter(std::span<const LaneBlock> blocks) {
  for (const LaneBlock& block : blocks) {
    if (block.lane_stride == 1 && block.words == 1)
      copy_lanes(block.staged->data(), block.first);
    else if (block.words == 4)
      scatter_block<4>(block);
    else if (block.words == 2)
      scatter_block<2>(block);
    else
      scatter_block<1>(block);
  }
}

#endif  // HWY_TARGET == HWY_SCALAR

}  // namespace
}  // namespace warpmat::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace warpmat {

HWY_EXPORT(gather);
HWY_EXPORT(scatter);

void fast_gather(std::span<const LaneBlock> blocks) {
  WARPMAT_KERNEL(gather)(blocks);
}
void fast_scatter(std::span<const LaneBlock> blocks) {
  WARPMAT_KERNEL(scatter)(blocks);
}

void plain_gather(std::span<const LaneBlock> blocks) {
  for (const LaneBlock& block : blocks)
    for (int i = 0; i < block.words; ++i)
      for (std::size_t lane = 0; lane < lanes; ++lane)
        block.staged[i][lane] = block.first[static_cast<std::ptrdiff_t>(lane) * block.lane_stride + i];
}

void plain_scatter(std::span<const LaneBlock> blocks) {
  for (const LaneBlock& block : blocks)
    for (int i = 0; i < block.words; ++i)
      for (std::size_t lane = 0; lane < lanes; ++lane)
        block.first[static_cast<std::ptrdiff_t>(lane) * block.lane_stride + i] = block.staged[i][lane];
}

}  // namespace warpmat
#endif
