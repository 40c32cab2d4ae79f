#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <warpmat/checks/checks.h>
#include <warpmat/launch.h>
#include <warpmat/machine/constant_copy.h>
#include <warpmat/machine/grid.h>
#include <warpmat/machine/launch_state.h>

namespace warpmat {

/// A launch that stops where its warps only wait for memory, and goes on when others may have written there.
class RunningLaunch {
 public:
  /// As launch(). The memory and the options stay as long as the launch does.
  RunningLaunch(Kernel kernel, const LaunchConfig& config, DeviceMemory& memory, const std::vector<Argument>& arguments,
                const LaunchOptions& options);

  /// Returns whether it has ended, else its warps wait. Throws Trap: machine::GridRun::run().
  bool run(machine::Patience patience);
  /// Whether the last run() has done what others may wait for.
  bool moved() const { return grid_->moved(); }
  /// Of a launch that has ended, once.
  LaunchResult result();

  /// Whether begin_again() may follow its end: to prepare a launch takes longer than a small kernel runs. None that a check has reported.
  bool can_repeat() const;
  /// It is to run again, with other arguments: a pointer to each. The kernel's module and heap are placed anew where they are gone.
  void begin_again(void* const* arguments);

 private:
  Kernel kernel_;
  const LaunchOptions& options_;
  std::atomic<std::uint64_t> printed_bytes_ = 0;
  std::optional<machine::ChunkLists> chunk_lists_;
  machine::LaunchState state_;
  machine::ConstantCopy constants_;
  checks::Reports reports_;
  checks::Setup setup_;
  std::optional<std::chrono::steady_clock::duration> time_left_;  ///< of LaunchOptions::most_seconds, which do not count while it is paused
  std::unique_ptr<machine::GridRun> grid_;
};

}  // namespace warpmat
