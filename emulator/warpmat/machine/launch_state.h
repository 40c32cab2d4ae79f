#pragma once

#include <cstdint>
#include <vector>

#include <warpmat/machine/launch.h>
#include <warpmat/machine/observer.h>
#include <warpmat/machine/warnings.h>

namespace warpmat::machine {

/// Data shared by all blocks of a launch. Only the warnings change while blocks run.
struct LaunchState {
  const code::Program& program;
  LaunchConfig config;
  LaunchOptions options;
  DeviceMemory& memory;
  const std::uint8_t* constants = nullptr;  ///< Program::constants with the module's addresses inserted
  std::vector<std::uint8_t> parameters;
  std::uint32_t shared_bytes = 0;            ///< static and dynamic
  std::uint32_t frame_bytes = 0;             ///< registers of a warp, including called functions
  std::uint32_t local_bytes = 0;             ///< local memory of a lane, including called functions
  bool explicit_cluster = false;             ///< the launch has clusters
  bool reads_shared_asynchronously = false;  ///< the program has bulk copies from shared memory, or wgmma
  Warnings& warnings;
  Warnings& absent_lanes;  ///< shuffles that read lanes which take no part
};

}  // namespace warpmat::machine
