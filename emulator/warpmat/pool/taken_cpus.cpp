#include <warpmat/pool/taken_cpus.h>

#if defined(__linux__)
#include <sched.h>
#endif

#include <cstdio>

namespace warpmat {
namespace {

constinit std::atomic<RunnableThreads> given_runnable{nullptr};

}  // namespace

void set_runnable_threads(RunnableThreads runnable) {
  given_runnable = runnable;
}

void TakenCpus::clear() {
  for (auto& word : taken_)
    if (word != 0) word = 0;
}

#if defined(__linux__)

namespace {

/// The fourth field of /proc/loadavg is theirs and all threads' number: 0.20 0.18 0.12 1/80 11206.
int runnable_threads() {
  std::FILE* const file = std::fopen("/proc/loadavg", "re");
  if (file == nullptr) return -1;
  int runnable = -1;
  if (std::fscanf(file, "%*s %*s %*s %d/", &runnable) != 1) runnable = -1;
  std::fclose(file);
  return runnable;
}

}  // namespace

void TakenCpus::take() {
  static_assert(most == CPU_SETSIZE);
  constexpr int most_moves = 3;  // a thread that is on its way to the same CPU may be there first
  for (int moves = 0; !try_take(sched_getcpu()) && moves < most_moves && leave();) ++moves;
}

bool TakenCpus::try_take(int cpu) {
  if (cpu < 0 || static_cast<std::size_t>(cpu) >= most) return true;  // unknown: stay
  const std::uint64_t bit = std::uint64_t{1} << static_cast<std::size_t>(cpu) % word_bits;
  return (taken_[static_cast<std::size_t>(cpu) / word_bits].fetch_or(bit) & bit) == 0;
}

bool TakenCpus::is_taken(std::size_t cpu) const {
  return (taken_[cpu / word_bits] >> cpu % word_bits & 1) != 0;
}

/// Moves the thread to one of the CPUs that are not taken; Linux says which. Two threads are on this CPU: if no more threads want to run
/// than there are CPUs here, at least one CPU is idle. Otherwise Linux knows better, and a thread that waits beside others holds up its
/// launch. In a container the threads are those of the whole machine, so beside other containers a thread may stay where it is.
bool TakenCpus::leave() {
  cpu_set_t all;
  if (sched_getaffinity(0, sizeof all, &all) != 0) return false;  // more CPUs than a cpu_set_t has
  cpu_set_t others = all;
  for (std::size_t cpu = 0; cpu < most; ++cpu)
    if (is_taken(cpu)) CPU_CLR(cpu, &others);
  if (CPU_COUNT(&others) == 0) return false;
  const RunnableThreads given = given_runnable;
  const int runnable = (given != nullptr ? given : runnable_threads)();
  if (runnable < 0 || runnable > CPU_COUNT(&all) || sched_setaffinity(0, sizeof others, &others) != 0) return false;
  sched_setaffinity(0, sizeof all, &all);  // fails only if the set of CPUs has just become another one, which then holds
  return true;
}

#else

void TakenCpus::take() {}

#endif

}  // namespace warpmat
