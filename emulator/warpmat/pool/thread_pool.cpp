#include <warpmat/pool/thread_pool.h>

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <unistd.h>

#include <warpmat/machine/threads.h>

namespace warpmat::inline v0_1 {
namespace {

// ThreadSanitizer does not see the synchronisation inside of oneTBB, which is compiled without it.
#if defined(__SANITIZE_THREAD__)
constexpr bool sanitizes_threads = true;
#else
constexpr bool sanitizes_threads = false;
#endif

/// An arena for each number of threads. The first launch on several threads makes it. Never destroyed: launches may come from destructors
/// at exit.
class Arenas {
 public:
  tbb::task_arena& of(int jobs) {
    const std::lock_guard lock(mutex_);
    std::unique_ptr<tbb::task_arena>& arena = arenas_[jobs];
    if (arena == nullptr) arena = std::make_unique<tbb::task_arena>(jobs);
    return *arena;
  }
  /// A child of fork() has none of the pool's threads, and perhaps a lock that one of them held.
  bool in_child() const { return getpid() != process_; }

 private:
  const pid_t process_ = getpid();
  std::mutex mutex_;
  std::map<int, std::unique_ptr<tbb::task_arena>> arenas_;
};

Arenas& arenas() {
  static auto* const all = new Arenas;
  return *all;
}

void run_in_pool(int jobs, void (*work)(void* data), void* data) {
  if (arenas().in_child()) return work(data);
  std::optional<tbb::global_control> more;  // oneTBB has no more threads than the machine, unless it is asked
  if (jobs > static_cast<int>(std::thread::hardware_concurrency()))
    more.emplace(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(jobs));
  arenas().of(jobs).execute([&] {
    tbb::parallel_for(
        0, jobs, [&](int) { work(data); }, tbb::simple_partitioner());
  });
}

}  // namespace

void use_thread_pool() {
  if (!sanitizes_threads) machine::set_threads(run_in_pool);
}

}  // namespace warpmat::inline v0_1
