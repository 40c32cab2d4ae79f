#include <warpmat/machine/threads.h>

#include <atomic>
#include <thread>
#include <vector>

namespace warpmat::inline v0_1::machine {
namespace {

void run_on_own_threads(int jobs, void (*work)(void* data), void* data) {
  std::vector<std::thread> threads;
  for (int i = 1; i < jobs; ++i) threads.emplace_back(work, data);
  work(data);
  for (std::thread& thread : threads) thread.join();
}

constinit std::atomic<RunOnThreads> given{nullptr};

}  // namespace

void set_threads(RunOnThreads threads) {
  given = threads;
}

void run_on_threads(int jobs, void (*work)(void* data), void* data) {
  const RunOnThreads threads = given;
  if (jobs == 1) return work(data);
  (threads != nullptr ? threads : run_on_own_threads)(jobs, work, data);
}

}  // namespace warpmat::inline v0_1::machine
