#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <vector>

#include <warpmat/machine/launch_state.h>
#include <warpmat/warp.h>

namespace warpmat::machine {

class Block;
class WarpState;

/// The memory of a block in one piece: the state of each warp, its splits and registers, and shared memory. Shared memory is
/// zero at first, and registers are where the program may read one that it has not written.
class BlockStorage {
 public:
  /// For at most `warps` warps.
  BlockStorage(const LaunchState& launch, std::size_t warps);
  ~BlockStorage();
  BlockStorage(const BlockStorage&) = delete;
  BlockStorage& operator=(const BlockStorage&) = delete;

  /// Makes the next warp.
  void add_warp(Block& block, LaneMask existing);
  const std::vector<WarpState*>& warps() const { return warps_; }
  std::span<std::uint8_t> shared() const { return shared_; }
  std::size_t bytes() const { return piece_.size; }
  /// Those of a warp.
  std::uint8_t* registers(std::size_t warp) const { return registers_ + warp * register_bytes_; }
  /// As a block finds it; it has no warps.
  void clear(const LaunchState& launch);

 private:
  SpareStorage::Piece take(std::size_t bytes) const;

  SpareStorage* spare_;
  std::size_t register_bytes_;  ///< of a warp
  std::size_t most_warps_;
  SpareStorage::Piece piece_;
  std::uint8_t* states_;
  std::uint8_t* registers_;
  std::span<std::uint8_t> shared_;
  std::pmr::monotonic_buffer_resource splits_;  ///< for those of all warps
  std::vector<WarpState*> warps_;
};

}  // namespace warpmat::machine
