#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace warpmat {

/// The CPUs on which the threads of a launch begin. Linux may begin a thread on the CPU of another one, and leave both there for some
/// milliseconds while other CPUs are idle. Most launches are shorter. Several threads may call it at once.
class TakenCpus {
 public:
  /// Before a launch, while no thread calls take().
  void clear();

  /// Takes the CPU of this thread. If another thread has it, this one moves to a CPU that it may use and none has taken, where one of them
  /// is idle. Which CPUs it may use later does not change, so that Linux can move it on.
  void take();

 private:
  static constexpr std::size_t most = 1024, word_bits = 64;  ///< CPUs: those of a cpu_set_t

  bool try_take(int cpu);
  bool is_taken(std::size_t cpu) const;
  bool leave();

  std::array<std::atomic<std::uint64_t>, most / word_bits> taken_{};
};

/// How many threads of the machine run or wait for a CPU; negative if that is unknown.
using RunnableThreads = int (*)();

/// What TakenCpus asks from now on; nullptr: the system. For tests, which may have a machine with other work.
void set_runnable_threads(RunnableThreads runnable);

}  // namespace warpmat
