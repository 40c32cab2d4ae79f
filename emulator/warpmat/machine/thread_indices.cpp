#include <warpmat/machine/thread_indices.h>

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

}  // namespace

ThreadIndices::ThreadIndices(const code::Program& program, Dim3 block) {
  if (!program.reads_thread_indices) return;
  rows_.resize(static_cast<std::size_t>((block.count() + warp_size - 1) / warp_size));
  Dim3 index{0, 0, 0};
  for (std::array<Row, 3>& rows : rows_) {
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
}

}  // namespace warpmat::machine
