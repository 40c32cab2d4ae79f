#pragma once

#include <stdexcept>
#include <string>

namespace warpmat {

/// A run ended early because SIGINT or SIGTERM asked for that, after it had written down what it had.
class Interrupted : public std::runtime_error {
 public:
  Interrupted(int signal_, const std::string& what) : std::runtime_error(what), signal(signal_) {}

  int exit_status() const { return 128 + signal; }  ///< 130 or 143, as shells have it

  int signal;
};

/// From now on SIGINT and SIGTERM only make interruption() tell of them; another one, a second or more later, ends the process at once.
/// What the process ignored when it began, as behind nohup, it goes on ignoring.
void catch_interruptions();

/// The signal that has asked the run to end, or 0. From any thread.
int interruption();

/// Throws Interrupted with `what` if a signal has asked the run to end.
void throw_if_interrupted(const std::string& what);

}  // namespace warpmat
