#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <warpmat/files/process.h>

namespace warpmat {

/// A signal asked this process to end, and what it ran has ended.
class Interrupted : public std::runtime_error {
 public:
  Interrupted(int signal_, const std::string& what) : std::runtime_error(what), signal(signal_) {}

  int exit_status() const { return 128 + signal; }  ///< 130 or 143, as shells have it

  int signal;
};

/// Runs `words`, the first of which is the program's file, with `variables` added to the environment, and waits. Returns its exit status,
/// or 128 and the signal's number where one ended it. SIGINT, SIGTERM, SIGHUP and SIGQUIT reach the program, which also ends with this
/// process. Throws Interrupted behind such a signal, and std::runtime_error where the program cannot start.
int run_supervised(const std::vector<std::string>& words, const ProcessOutput& output, const Variables& variables = {});

/// What a program may use, its children included; 0: no limit.
struct ProcessLimits {
  double seconds = 0;
  std::uint64_t memory = 0;  ///< bytes of memory that are in use at once
};

/// How a supervised program ended.
struct ProcessEnd {
  enum class Limit { none, seconds, memory };
  int status = 0;             ///< as run_supervised() returns it
  int ended_by = 0;           ///< the signal that ended the program; 0: none
  int asked = 0;              ///< the last signal that asked this process to end, and was passed on; 0: none
  Limit limit = Limit::none;  ///< of ProcessLimits, the one that ended it
  int left_running = 0;       ///< children that the program left, which were ended
};

/// The same as run_supervised(), with all processes that the program begins: signals reach them, and none of them is left. After SIGTERM or
/// SIGHUP, and at the limit of time, they have a few seconds. Throws std::runtime_error where the program cannot start.
ProcessEnd supervise(const std::vector<std::string>& words, const ProcessOutput& output, const Variables& variables,
                     const ProcessLimits& limits = {});

}  // namespace warpmat
