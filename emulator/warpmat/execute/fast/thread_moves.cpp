// ldmatrix and stmatrix on registers that lie thread by thread. Compiled once for each instruction set.

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include <warpmat/execute/fast/dispatch.h>
#include <warpmat/execute/fast/thread_moves.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "warpmat/execute/fast/thread_moves.cpp"
#include <hwy/foreach_target.h>

#include <warpmat/execute/fast/matrix_rows-inl.h>

HWY_BEFORE_NAMESPACE();
namespace warpmat::HWY_NAMESPACE {
namespace {

#if HWY_TARGET == HWY_SCALAR

bool thread_move_rows(const ThreadMove&, const LaneRegisters&, std::uint8_t* const*) {
  return false;
}

#else

constexpr int row_lanes = 4;  // lanes that hold a row of a matrix

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
HWY_INLINE void load(const ThreadMove& move, std::uint32_t* lane_0, std::ptrdiff_t lane_stride, std::uint8_t* const* rows) {
  Row m[matrices][matrix_rows];
  for (int matrix = 0; matrix < matrices; ++matrix) {
    for (int i = 0; i < matrix_rows; ++i) m[matrix][i] = load_row(rows[matrix * matrix_rows + i]);
    if (move.transposed) transpose(m[matrix]);
  }
  for (int i = 0; i < matrix_rows; ++i) {
    hn::Vec<D32> words[4];
    for (int t = 0; t < 4; ++t) words[t] = hn::BitCast(D32(), m[t < matrices ? t : 0][i]);
    transpose_words(words);
    for (int t = 0; t < row_lanes; ++t) store_words<matrices>(words[t], lane_0 + (i * row_lanes + t) * lane_stride);
  }
}

template <int matrices>
HWY_INLINE void store(const ThreadMove& move, const std::uint32_t* lane_0, std::ptrdiff_t lane_stride, std::uint8_t* const* rows) {
  Row m[4][matrix_rows];
  for (int i = 0; i < matrix_rows; ++i) {
    hn::Vec<D32> words[4];
    for (int t = 0; t < row_lanes; ++t) words[t] = load_words<matrices>(lane_0 + (i * row_lanes + t) * lane_stride);
    transpose_words(words);
    for (int t = 0; t < 4; ++t) m[t][i] = hn::BitCast(D16(), words[t]);
  }
  for (int matrix = 0; matrix < matrices; ++matrix) {  // lane 0's row first: of two lanes with one address the later wins
    if (move.transposed) transpose(m[matrix]);
    for (int i = 0; i < matrix_rows; ++i) store_row(m[matrix][i], rows[matrix * matrix_rows + i]);
  }
}

bool thread_move_rows(const ThreadMove& move, const LaneRegisters& r, std::uint8_t* const* rows) {
  std::uint32_t* const lane_0 = r.word(0);
  switch (move.matrices) {
    case 1: move.store ? store<1>(move, lane_0, r.lane_stride, rows) : load<1>(move, lane_0, r.lane_stride, rows); return true;
    case 2: move.store ? store<2>(move, lane_0, r.lane_stride, rows) : load<2>(move, lane_0, r.lane_stride, rows); return true;
    case 4: move.store ? store<4>(move, lane_0, r.lane_stride, rows) : load<4>(move, lane_0, r.lane_stride, rows); return true;
  }
  return false;
}

#endif  // HWY_TARGET == HWY_SCALAR

}  // namespace
}  // namespace warpmat::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace warpmat {

ThreadMove thread_move(const Form& form, const Lowering& lowering) {
  const bool store = form.mnemonic == Mnemonic::stmatrix;
  if (!store && form.mnemonic != Mnemonic::ldmatrix) return {};
  if (form.operand(OperandName::r).fragment.element_bits != 16) return {};
  return {.store = store,
          .transposed = form.transposed,
          .matrices = form.number,
          .address_lanes = lowering.particulars.checks_all_addresses ? lanes : form.rows_in_memory()};
}

namespace {

/// Whether the registers of each lane lie side by side, apart from those of other lanes and from `memory`.
bool lie_by_threads(const LaneRegisters& r, std::span<const std::uint8_t> memory) {
  if (r.word_stride != 1 || std::abs(r.lane_stride) < r.count) return false;
  for (int i = 1; r.numbers != nullptr && i < r.count; ++i)
    if (r.numbers[i] != r.numbers[0] + i) return false;
  const auto first = reinterpret_cast<std::uintptr_t>(r.word(0)),
             last = reinterpret_cast<std::uintptr_t>(r.word(0) + (lanes - 1) * r.lane_stride);
  const auto begin = reinterpret_cast<std::uintptr_t>(memory.data());
  const std::size_t bytes = static_cast<std::size_t>(r.count) * sizeof(std::uint32_t);
  return std::max(first, last) + bytes <= begin || begin + memory.size() <= std::min(first, last);
}

/// Enters the rows that the lanes address; false where an address is wrong.
bool find_rows(int count, const LaneRegisters& p, std::span<std::uint8_t> memory, std::uint64_t base, std::uint64_t offset,
               std::uint8_t** rows) {
  constexpr std::uint64_t row_bytes = Form::row_bytes;
  if (memory.size() < row_bytes) return false;
  const std::uint64_t last_position = memory.size() - row_bytes;
  const std::uint32_t* word = p.word(0);
  bool wrong = false;
  for (int lane = 0; lane < count; ++lane, word += p.lane_stride) {
    const auto address = static_cast<std::uint32_t>(*word + offset);  // modulo 2^32, as the hardware adds
    const std::uint64_t position = address - base;                    // below the base: beyond every size
    const bool right = position <= last_position && address % row_bytes == 0;
    wrong |= !right;
    rows[lane] = memory.data() + (right ? position : 0);
  }
  return !wrong;
}

}  // namespace

HWY_EXPORT(thread_move_rows);

bool fast_thread_move(const ThreadMove& move, const LaneRegisters& r, const LaneRegisters& p, std::span<std::uint8_t> memory,
                      std::uint64_t base, std::uint64_t offset) {
  std::uint8_t* rows[lanes];
  return lie_by_threads(r, memory) && find_rows(move.address_lanes, p, memory, base, offset, rows) &&
         WARPMAT_KERNEL(thread_move_rows)(move, r, rows);
}

}  // namespace warpmat
#endif
