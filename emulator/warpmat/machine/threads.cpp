#include <warpmat/launch.h>
#include <warpmat/machine/threads.h>

#if defined(__linux__)
#include <sched.h>
#endif

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace warpmat::machine {
namespace {

void run_on_own_threads(int jobs, void (*work)(void* data), void* data) {
  std::vector<std::thread> threads;
  for (int i = 1; i < jobs; ++i) threads.emplace_back(work, data);
  work(data);
  for (std::thread& thread : threads) thread.join();
}

constinit std::atomic<RunOnThreads> given_threads{nullptr};

}  // namespace

unsigned usable_cores() {
#if defined(__linux__)
  cpu_set_t cores;  // fails on a machine with more cores than it has places for
  if (sched_getaffinity(0, sizeof cores, &cores) == 0) return static_cast<unsigned>(std::max(1, CPU_COUNT(&cores)));
#endif
  return std::max(1u, std::thread::hardware_concurrency());
}

void run_on_threads(int jobs, void (*work)(void* data), void* data) {
  const RunOnThreads threads = given_threads;
  if (jobs == 1) return work(data);
  (threads != nullptr ? threads : run_on_own_threads)(jobs, work, data);
}

}  // namespace warpmat::machine

void warpmat::set_threads(RunOnThreads threads) {
  machine::given_threads = threads;
}
