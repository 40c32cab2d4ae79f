#include <warpmat/machine/thread_indices.h>

#include <array>
#include <cstddef>
#include <mutex>
#include <vector>

namespace warpmat::machine {

namespace {

/// `threads`: at most those that are left in the line.
void step(Dim3& index, std::uint32_t threads, const Dim3& block) {
  if ((index.x += threads) < block.x) return;
  index.x = 0;
  if (++index.y < block.y) return;
  index.y = 0;
  ++index.z;
}

using Rows = std::vector<std::array<ThreadIndices::Row, 3>>;  // by warp

Rows rows_of(const Dim3& block) {
  Rows all(static_cast<std::size_t>((block.count() + warp_size - 1) / warp_size));
  Dim3 index{0, 0, 0};
  for (std::array<ThreadIndices::Row, 3>& rows : all) {
    if (index.x + warp_size <= block.x) {  // the usual warp lies in one line of the block
      for (std::uint32_t lane = 0; lane < warp_size; ++lane) rows[0][lane] = index.x + lane;
      rows[1].fill(index.y);
      rows[2].fill(index.z);
      step(index, warp_size, block);
      continue;
    }
    for (std::size_t lane = 0; lane < warp_size; ++lane) {
      rows[0][lane] = index.x;
      rows[1][lane] = index.y;
      rows[2][lane] = index.z;
      step(index, 1, block);
    }
  }
  return all;
}

}  // namespace

ThreadIndices::ThreadIndices(const code::Program& program, Dim3 block) {
  if (!program.reads_thread_indices) return;
  struct Last {
    std::mutex mutex;  // only tried, as those of SpareStorage
    Dim3 block{0, 0, 0};
    Rows rows;
  };
  static auto* const last = new Last;  // never destroyed: launches may come from destructors at exit
  const std::unique_lock lock(last->mutex, std::try_to_lock);
  if (lock && last->block == block) {
    rows_ = last->rows;
    return;
  }
  rows_ = rows_of(block);
  if (!lock) return;
  last->block = block;
  last->rows = rows_;
}

}  // namespace warpmat::machine
