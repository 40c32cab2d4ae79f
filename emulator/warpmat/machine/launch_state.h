#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <warpmat/launch.h>
#include <warpmat/machine/spare_storage.h>
#include <warpmat/machine/thread_indices.h>
#include <warpmat/machine/warpgroup.h>
#include <warpmat/observer.h>

namespace warpmat::machine {

/// Counts the launches of this process, from 1 on.
inline std::uint64_t next_launch_number() {
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

/// Data shared by all blocks of a launch. It does not change while blocks run.
struct LaunchState {
  const code::Program& program;
  LaunchConfig config;
  const LaunchOptions& options;
  DeviceMemory& memory;
  ThreadIndices thread_indices;
  const std::uint8_t* constants = nullptr;  ///< Program::constants with the module's addresses inserted
  std::vector<std::uint8_t> parameters;
  std::uint32_t shared_bytes = 0;  ///< reserved, static and dynamic
  std::uint32_t frame_bytes = 0;   ///< registers of a warp, including called functions
  std::uint32_t local_bytes = 0;   ///< local memory of a lane, including called functions
  bool explicit_cluster = false;   ///< the launch has clusters
  bool one_by_one = false;         ///< each statement ends before the next begins: lanes that part would not meet again
  /// When LaunchOptions::most_seconds are over, if it has some.
  std::optional<std::chrono::steady_clock::time_point> end = std::nullopt;
  std::uint64_t number = next_launch_number();
  SpareStorage* spare = nullptr;                        ///< of blocks; null: each has memory of its own
  ChunkLists* chunk_lists = nullptr;                    ///< of programs with wgmma
  std::atomic<std::uint64_t>* printed_bytes = nullptr;  ///< of all blocks so far; null: they are not counted
  /// Makes the observers of a cluster, told before those of the options; may be null.
  std::function<std::vector<std::unique_ptr<Observer>>(std::uint64_t cluster)> checks = nullptr;
};

/// A variable in shared memory and its bytes: an .extern array has all up to the end.
struct PlacedVariable {
  const code::Variable& variable;
  std::uint64_t bytes;
};
/// The one that begins last among those that begin at `address` or before it; nothing where there is none: warp_messages.cpp.
std::optional<PlacedVariable> shared_variable_before(const LaunchState& launch, std::uint64_t address);

}  // namespace warpmat::machine
