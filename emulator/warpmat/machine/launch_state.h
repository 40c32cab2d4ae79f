#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <warpmat/launch.h>
#include <warpmat/machine/spare_storage.h>
#include <warpmat/machine/thread_indices.h>
#include <warpmat/machine/warpgroup.h>
#include <warpmat/observer.h>

namespace warpmat::inline v0_1::machine {

/// Data shared by all blocks of a launch. It does not change while blocks run.
struct LaunchState {
  const code::Program& program;
  LaunchConfig config;
  LaunchOptions options;
  DeviceMemory& memory;
  ThreadIndices thread_indices;
  const std::uint8_t* constants = nullptr;  ///< Program::constants with the module's addresses inserted
  std::vector<std::uint8_t> parameters;
  std::uint32_t shared_bytes = 0;  ///< static and dynamic
  std::uint32_t frame_bytes = 0;   ///< registers of a warp, including called functions
  /// By function: the offset of its registers among `level_bytes`, those of all functions. Splits of a warp may be in several functions at
  /// once, whose registers have other sizes, so each function has a place of its own; recursion takes the next level.
  std::vector<std::uint32_t> frame_offsets = {};
  std::uint32_t level_bytes = 0;
  std::uint32_t local_bytes = 0;  ///< local memory of a lane, including called functions
  bool explicit_cluster = false;  ///< the launch has clusters
  SpareStorage* spare = nullptr;  ///< of blocks; null: each has memory of its own
  /// Makes the observers of a cluster, told before those of the options; may be null.
  std::function<std::vector<std::unique_ptr<Observer>>(std::uint64_t cluster)> checks = nullptr;
  std::shared_ptr<ChunkLists> chunk_lists = program.products.empty() ? nullptr : std::make_shared<ChunkLists>();  ///< of wgmma
};

}  // namespace warpmat::inline v0_1::machine
