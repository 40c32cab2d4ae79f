// ldmatrix and stmatrix on thread-major registers. Compiled once for each instruction set.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include <warpmat/execute/fast/thread_moves.h>
#include <warpmat/numeric/kernels_target.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "warpmat/execute/fast/thread_moves.cpp"
#include <hwy/foreach_target.h>

#include <warpmat/execute/fast/matrix_rows-inl.h>

HWY_BEFORE_NAMESPACE();
namespace warpmat::HWY_NAMESPACE {
namespace {

#if HWY_TARGET == HWY_SCALAR

bool thread_move(const MovePlan&, const ThreadMove&) {
  return false;
}

#else

constexpr int row_lanes = 4;  // lanes that hold a row of a matrix

using Addresses = hn::CappedTag<std::uint32_t, matrix_rows>;

/// Computes the memory positions of the rows that the lanes address; returns false if an address is wrong.
HWY_INLINE bool find_rows(const ThreadMove& move, int count, std::uint32_t* positions) {
  HWY_ALIGN std::uint32_t words[warp_size];
  const std::uint32_t* word = move.addresses;
  for (int lane = 0; lane < count; ++lane, word += move.address_stride) words[lane] = *word;
  const Addresses d;
  const auto offset = hn::Set(d, move.offset), base = hn::Set(d, move.base), last = hn::Set(d, move.last_position);
  const auto within_row = hn::Set(d, std::uint32_t{Form::row_bytes - 1});
  auto wrong = hn::Zero(d);
  for (int lane = 0; lane < count; lane += static_cast<int>(hn::MaxLanes(d))) {
    const auto address = hn::Add(hn::Load(d, words + lane), offset);  // modulo 2^32, as on hardware
    const auto position = hn::Sub(address, base);                     // an address below the base gives a position larger than itself
    const auto largest = hn::Min(address, last);
    wrong = hn::Or(wrong, hn::Or(hn::Xor(hn::Max(position, largest), largest), hn::And(address, within_row)));
    hn::Store(position, d, positions + lane);
  }
  return hn::AllTrue(d, hn::Eq(wrong, hn::Zero(d)));
}

/// A 4x4 matrix of words.
HWY_INLINE void transpose_words(hn::Vec<D32>* m) {
  const auto pairs = [](hn::Vec<D32> low, hn::Vec<D32> high) HWY_ATTR { return hn::BitCast(D64(), hn::InterleaveLower(low, high)); };
  const auto upper_pairs = [](hn::Vec<D32> low, hn::Vec<D32> high)
                               HWY_ATTR { return hn::BitCast(D64(), hn::InterleaveUpper(D32(), low, high)); };
  const auto a = pairs(m[0], m[1]), b = pairs(m[2], m[3]), c = upper_pairs(m[0], m[1]), d = upper_pairs(m[2], m[3]);
  m[0] = hn::BitCast(D32(), hn::InterleaveLower(a, b));
  m[1] = hn::BitCast(D32(), hn::InterleaveUpper(D64(), a, b));
  m[2] = hn::BitCast(D32(), hn::InterleaveLower(c, d));
  m[3] = hn::BitCast(D32(), hn::InterleaveUpper(D64(), c, d));
}

/// The `matrices` registers of one lane.
template <int matrices>
HWY_INLINE hn::Vec<D32> load_words(const std::uint32_t* from) {
  if constexpr (matrices == 4) return hn::LoadU(D32(), from);
  HWY_ALIGN std::uint32_t words[4] = {};
  std::memcpy(words, from, matrices * sizeof *words);
  return hn::Load(D32(), words);
}
template <int matrices>
HWY_INLINE void store_words(hn::Vec<D32> words, std::uint32_t* to) {
  if constexpr (matrices == 4) return hn::StoreU(words, D32(), to);
  HWY_ALIGN std::uint32_t kept[4];
  hn::Store(words, D32(), kept);
  std::memcpy(to, kept, matrices * sizeof *kept);
}

template <int matrices>
HWY_INLINE void load(const ThreadMove& move, bool transposed, const std::uint32_t* positions) {
  constexpr std::size_t all_matrices = matrices;  // an array's bound, which GCC 14 wants unsigned
  Row m[all_matrices][matrix_rows];
  for (int matrix = 0; matrix < matrices; ++matrix) {
    for (int i = 0; i < matrix_rows; ++i) m[matrix][i] = load_row(move.memory + positions[matrix * matrix_rows + i]);
    if (transposed) transpose(m[matrix]);
  }
  for (int i = 0; i < matrix_rows; ++i) {
    hn::Vec<D32> words[4];
    for (int t = 0; t < 4; ++t) words[t] = hn::BitCast(D32(), m[t < matrices ? t : 0][i]);
    transpose_words(words);
    for (int t = 0; t < row_lanes; ++t) store_words<matrices>(words[t], move.lane_0 + (i * row_lanes + t) * move.lane_stride);
  }
}

template <int matrices>
HWY_INLINE void store(const ThreadMove& move, bool transposed, const std::uint32_t* positions) {
  Row m[4][matrix_rows];
  for (int i = 0; i < matrix_rows; ++i) {
    hn::Vec<D32> words[4];
    for (int t = 0; t < row_lanes; ++t) words[t] = load_words<matrices>(move.lane_0 + (i * row_lanes + t) * move.lane_stride);
    transpose_words(words);
    for (int t = 0; t < 4; ++t) m[t][i] = hn::BitCast(D16(), words[t]);
  }
  for (int matrix = 0; matrix < matrices; ++matrix) {  // lane 0's row first: if two lanes have one address, the later lane wins
    if (transposed) transpose(m[matrix]);
    for (int i = 0; i < matrix_rows; ++i) store_row(m[matrix][i], move.memory + positions[matrix * matrix_rows + i]);
  }
}

template <int matrices>
HWY_INLINE bool move_matrices(const MovePlan& plan, const ThreadMove& move) {
  HWY_ALIGN std::uint32_t positions[warp_size];
  if (!find_rows(move, plan.address_lanes, positions)) return false;
  if (plan.kind == MovePlan::Kind::store)
    store<matrices>(move, plan.transposed, positions);
  else
    load<matrices>(move, plan.transposed, positions);
  return true;
}

bool thread_move(const MovePlan& plan, const ThreadMove& move) {
  switch (plan.matrices) {
    case 1: return move_matrices<1>(plan, move);
    case 2: return move_matrices<2>(plan, move);
    case 4: return move_matrices<4>(plan, move);
  }
  return false;
}

#endif  // HWY_TARGET == HWY_SCALAR

}  // namespace
}  // namespace warpmat::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace warpmat {

HWY_EXPORT(thread_move);

namespace {

/// Whether each lane's registers are consecutive and disjoint from those of other lanes.
bool is_thread_major(const RegisterView& r, int words) {
  if (r.word_stride() != 1 || std::abs(r.lane_stride()) < words) return false;
  for (int i = 1; r.numbers() != nullptr && i < words; ++i)
    if (r.numbers()[i] != r.numbers()[0] + i) return false;
  return true;
}

/// Whether the `words` registers of all lanes are disjoint from `bytes` bytes of memory.
bool are_disjoint(const ThreadMove& move, int words, std::size_t bytes) {
  const auto first = reinterpret_cast<std::uintptr_t>(move.lane_0),
             last = reinterpret_cast<std::uintptr_t>(move.lane_0 + (warp_size - 1) * move.lane_stride);
  const auto begin = reinterpret_cast<std::uintptr_t>(move.memory);
  const std::size_t lane_bytes = static_cast<std::size_t>(words) * sizeof(std::uint32_t);
  return std::max(first, last) + lane_bytes <= begin || begin + bytes <= std::min(first, last);
}

}  // namespace

std::size_t fast_thread_moves(const MovePlan& plan, const RegisterView& r, const ConstRegisterView& p, const CallMemory& memory,
                              std::size_t warps) {
  if (plan.kind == MovePlan::Kind::move || !plan.table.empty() || !is_thread_major(r, plan.matrices)) return 0;
  if (memory.shared_bytes < Form::row_bytes) return 0;
  const std::size_t last = std::min<std::size_t>(memory.shared_bytes - Form::row_bytes, UINT32_MAX);
  ThreadMove move{.lane_0 = r.word(0),
                  .lane_stride = r.lane_stride(),
                  .addresses = p.word(0),
                  .address_stride = p.lane_stride(),
                  .memory = memory.shared,
                  .base = static_cast<std::uint32_t>(memory.shared_base),
                  .offset = static_cast<std::uint32_t>(memory.offset),
                  .last_position = static_cast<std::uint32_t>(last)};
  for (std::size_t warp = 0; warp < warps;) {
    if (!are_disjoint(move, plan.matrices, memory.shared_bytes) || !WARPMAT_KERNEL(thread_move)(plan, move)) return warp;
    if (++warp == warps) break;
    move.lane_0 += r.warp_stride();
    move.addresses += p.warp_stride();
    move.memory += memory.shared_stride;
  }
  return warps;
}

}  // namespace warpmat
#endif
