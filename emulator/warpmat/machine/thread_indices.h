#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <warpmat/ir/code.h>
#include <warpmat/launch.h>
#include <warpmat/warp.h>

namespace warpmat::machine {

/// %tid.x, .y and .z of the lanes of each warp of a block. They are the same in all blocks of a launch.
class ThreadIndices {
 public:
  using Row = std::array<std::uint32_t, warp_size>;

  /// Those that the program reads.
  ThreadIndices(const code::Program& program, Dim3 block);

  /// tid_x, tid_y or tid_z.
  const Row& row(int warp, code::SpecialRegister index) const {
    return rows_[static_cast<std::size_t>(warp)][static_cast<std::size_t>(index) - static_cast<std::size_t>(code::SpecialRegister::tid_x)];
  }
  /// That of tid_x, behind which the others lie; null if the program reads none.
  const std::uint32_t* first_row(int warp) const { return rows_.empty() ? nullptr : rows_[static_cast<std::size_t>(warp)].front().data(); }

 private:
  std::vector<std::array<Row, 3>> rows_;  ///< by warp; empty if the program reads none
};

}  // namespace warpmat::machine
