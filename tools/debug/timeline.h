#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/debug/debuggee.h"
#include "tools/debug/process.h"
#include "tools/report/launch_description.h"

namespace warpmat::debug {

/// A launch that can be debugged, with its memory as before it.
struct LoadedLaunch {
  Kernel kernel;
  LaunchDescription description;
  PreparedLaunch prepared;
};

struct LaunchChoice {
  Checks checks{};
  Timing timing = Timing::latest;
  std::uint64_t schedule = 0;
  std::vector<Dim3> blocks{};  ///< whose statements are seen; empty: all. The others run at full speed
};

/// One launch as a line of time, in both directions: the processes that execute it (process.h).
class Timeline {
 public:
  /// Begins the launch, and stops before its first statement. Throws std::runtime_error where a process cannot be made. What it refers to
  /// must outlive it.
  Timeline(LoadedLaunch& launch, const Names& names, const SourceMap& source, const LaunchChoice& choice);
  ~Timeline();
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  /// A question of inspect.h. Throws std::invalid_argument with the answer's error.
  Json ask(const Json& question);
  /// Goes on by a move of Follower, and returns where it stops. Throws std::runtime_error where the process has died.
  Json move(const Json& move);
  /// Goes to a time, forwards or backwards.
  Json go_to(std::uint64_t time);
  /// The last place before now where the move would have stopped; nothing: there is none. Then the active process is elsewhere: go_to()
  /// follows. `now` is the time, or one beyond the end.
  std::optional<Json> find_before(Json move, std::uint64_t now);

  std::uint64_t time() const { return time_; }
  bool ended() const { return ended_; }
  /// A file that is read while the launch runs, by calls of `read`: that of who may ask it to stop.
  struct Input {
    int file = -1;
    std::function<void()> read;
  };
  void set_input(Input input) { input_ = std::move(input); }
  /// Asks the process that runs now to stop; a handler of signals may do so.
  void interrupt() { connections_.shared().interrupted = true; }
  /// Checkpoints by their times, and the bytes that they alone have.
  struct Memory {
    std::vector<std::uint64_t> times;
    std::uint64_t spacing = 0, bytes = 0;
  };
  Memory memory() const;

 private:
  [[noreturn]] void execute(LoadedLaunch& launch, const Names& names, const SourceMap& source, const LaunchChoice& choice);
  Json receive();
  void end_active();
  std::size_t checkpoint_before(std::uint64_t time);
  void wake(std::size_t checkpoint);

  Connections connections_;
  Input input_;
  pid_t active_ = 0;
  std::uint64_t time_ = 0;
  bool ended_ = false;
};

}  // namespace warpmat::debug
