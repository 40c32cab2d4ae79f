#include <warpmat/machine/thread_indices.h>

namespace warpmat::machine {

ThreadIndices::ThreadIndices(const code::Program& program, Dim3 block) {
  if (!program.reads_thread_indices) return;
  rows_.resize(static_cast<std::size_t>((block.count() + warp_size - 1) / warp_size));
  Dim3 index{0, 0, 0};
  for (std::array<Row, 3>& rows : rows_)
    for (std::size_t lane = 0; lane < warp_size; ++lane) {
      rows[0][lane] = index.x;
      rows[1][lane] = index.y;
      rows[2][lane] = index.z;
      if (++index.x < block.x) continue;
      index.x = 0;
      if (++index.y < block.y) continue;
      index.y = 0;
      ++index.z;
    }
}

}  // namespace warpmat::machine
