#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include <warpmat/launch.h>
#include <warpmat/observer.h>

namespace warpmat {

// What a launch executed and how long it took, by statement of its kernel:
//
//     Profiler profiler(kernel);
//     launch(kernel, config, memory, arguments, {.observers_of_clusters = {[&](std::uint64_t) { return profiler.observer(); }}});
//     const Profile profile = profiler.result();
//
// How it is measured. The profiler is an observer (observer.h). It reads the cycle counter at every event. The counts are exact;
// times include some 10 ns for each event, and exclude what the profiler itself does. The machine executes statements that only compute in
// runs. A run is timed as a whole; now and then one is executed statement by statement, and these times, less that of an event, say how a
// run's time is divided.
// The time of checks is that of their calls. What they make slower in the machine is in the time of the statements.

/// One statement of a kernel.
struct StatementProfile {
  std::uint32_t statement = 0;  ///< of code::Program::statements
  std::uint64_t executed = 0;   ///< by warps; operations that prepare it (Event::prepares) count in the times alone
  std::uint64_t lanes = 0;      ///< that were active, summed over the executions; those whose guard is false are not
  double seconds = 0;           ///< of all threads, without the checks
  double check_seconds = 0;     ///< of the checks' calls
};

struct Profile {
  std::vector<StatementProfile> statements;  ///< that were executed, in their order
  double other_seconds = 0;                  ///< outside of statements: blocks begin and end
  double other_check_seconds = 0;
};

/// Adds what another launch of the same kernel did.
void add(Profile& sum, const Profile& more);

/// Measures one launch of a kernel. Its observers refer to it; a launch of another Kernel ends with std::invalid_argument.
class Profiler {
 public:
  explicit Profiler(const Kernel& kernel);
  ~Profiler();
  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;

  /// The observer of a cluster. Several threads may call it at once.
  std::unique_ptr<machine::Observer> observer();
  /// After the launch, also after one that ended with an error.
  Profile result() const;

 private:
  class ClusterObserver;
  struct Threads;

  Kernel kernel_;
  std::unique_ptr<Threads> threads_;
  std::uint64_t first_tick_;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace warpmat
