#pragma once

#include <stdexcept>
#include <string>

namespace warpmat {

/// A run that SIGINT or SIGTERM ended early, after it had written its results.
class Interrupted : public std::runtime_error {
 public:
  Interrupted(int signal_, const std::string& what) : std::runtime_error(what), signal(signal_) {}

  int exit_status() const { return 128 + signal; }  ///< 130 or 143, as shells have it

  int signal;
};

/// From now on SIGINT and SIGTERM only set interruption(); another one, a second or more later, ends the process at once. Signals that the
/// process ignored at its start, as under nohup, remain ignored.
void catch_interruptions();

/// The signal that has asked for the end, or 0. Any thread may call this.
int interruption();

/// Throws Interrupted with `what` if a signal has asked the run to end.
void throw_if_interrupted(const std::string& what);

}  // namespace warpmat
