#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <warpmat/warp.h>

namespace warpmat {

/// The words of a block's tensor memory: 128 lanes of 512 columns. Of a word that was not written the ISA says nothing; it is 0.
///
/// Tiles of 16 lanes by 8 columns are stored as registers of mma's accumulators (fragment_c of 32-bit elements), so products write them in
/// place.
class TensorMemory {
 public:
  static constexpr int lanes = 128, columns = 512, tile_lanes = 16, tile_columns = 8, tile_registers = 4;

  TensorMemory() : registers_(std::size_t{lanes / tile_lanes} * (columns / tile_columns) * tile_registers) {}

  /// Precondition: the cell exists.
  std::uint32_t& word(int lane, int column) { return registers_[register_of(lane, column)][place_of(lane, column)]; }
  std::uint32_t word(int lane, int column) const { return registers_[register_of(lane, column)][place_of(lane, column)]; }

  /// The registers of the tile from a cell on; those of the next 8 columns follow. Precondition: a tile begins there.
  Register* tile(int lane, int column) { return &registers_[register_of(lane, column)]; }

 private:
  static constexpr std::size_t register_of(int lane, int column) {
    const int tile = lane / tile_lanes * (columns / tile_columns) + column / tile_columns;
    return static_cast<std::size_t>(tile * tile_registers + lane % tile_lanes / 8 * 2 + column % 2);
  }
  static constexpr std::size_t place_of(int lane, int column) { return static_cast<std::size_t>(lane % 8 * 4 + column % tile_columns / 2); }

  std::vector<Register> registers_;
};

}  // namespace warpmat
