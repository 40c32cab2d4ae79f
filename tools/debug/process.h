#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include <nlohmann/json.hpp>

namespace warpmat::debug {

using Json = nlohmann::json;

/// One end of a connection between the debugger and the process that runs the launch.
class Channel {
 public:
  explicit Channel(int file) : file_(file) {}
  /// Nothing happens where the other end is gone: who waits for the answer is told.
  void send(const Json& message) const;
  /// Nothing where the other end is gone.
  std::optional<Json> receive() const;
  int file() const { return file_; }

 private:
  int file_;
};

// The debugger forks a process that executes the launch with an observer, the active one. It forks itself again and again: these copies,
// the checkpoints, sleep, and share the memory that neither has changed since. To go back, the debugger ends the active process and wakes a
// checkpoint, which forks the next active one. So all state of the emulator is kept, and none of it knows.

/// A checkpoint, in memory that all processes share.
struct Checkpoint {
  pid_t pid = 0;  ///< 0: none
  std::uint64_t time = 0;
};

inline constexpr std::size_t grid_checkpoints = 40;  ///< spaced over the launch; where they are used up, every other one goes
inline constexpr std::size_t near_checkpoints = 12;  ///< close before where the user is, for the next steps back

/// What all processes of a launch share.
struct SharedState {
  std::atomic<bool> interrupted{false};
  std::uint64_t spacing = 50'000;  ///< of the grid's checkpoints, in operations
  std::size_t next_near = 0;       ///< that is replaced next
  Checkpoint all[grid_checkpoints + near_checkpoints];
};

/// The connections of a launch: made before the first process, which inherits them.
class Connections {
 public:
  Connections();
  ~Connections();
  Connections(const Connections&) = delete;
  Connections& operator=(const Connections&) = delete;

  SharedState& shared() { return *shared_; }
  Channel debugger() const { return Channel(debuggers_[0]); }
  Channel debuggee() const { return Channel(debuggees_[0]); }
  Channel to_checkpoint(std::size_t i) const { return Channel(debuggers_[i + 1]); }
  Channel of_checkpoint(std::size_t i) const { return Channel(debuggees_[i + 1]); }
  /// In the debuggee: so that it ends with the debugger.
  void close_debuggers();

 private:
  SharedState* shared_;
  std::vector<int> debuggers_, debuggees_;
};

}  // namespace warpmat::debug
