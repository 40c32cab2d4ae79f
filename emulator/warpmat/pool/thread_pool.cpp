#include <warpmat/pool/thread_pool.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/task_arena.h>
#include <unistd.h>

#include <warpmat/launch.h>
#include <warpmat/pool/taken_cpus.h>

namespace warpmat {
namespace {

// ThreadSanitizer does not see the synchronisation inside of oneTBB, which is compiled without it.
#if defined(__has_feature)  // clang
#define WARPMAT_HAS_FEATURE(name) __has_feature(name)
#else
#define WARPMAT_HAS_FEATURE(name) 0
#endif
#if defined(__SANITIZE_THREAD__) || WARPMAT_HAS_FEATURE(thread_sanitizer)
constexpr bool sanitizes_threads = true;
#else
constexpr bool sanitizes_threads = false;
#endif

using Work = void (*)(void* data);

std::atomic<int> threads_so_far = 0;

/// Counts the calling thread, once.
void count_thread() {
  static thread_local bool counted = false;
  if (!std::exchange(counted, true)) ++threads_so_far;
}

/// What launches on a number of threads run on: the caller's thread, and helpers from an arena of oneTBB. To wake a thread takes about as
/// long as a small launch, so a helper looks for the next launch for a while before it goes to sleep.
class Team {
 public:
  explicit Team(int jobs) : helpers_(jobs - 1), arena_(jobs) {}

  /// A launch beside another one, or within it, runs in its caller's thread alone.
  void run(Work work, void* data) {
    if (is_busy_.test_and_set()) return work(data);
    work_ = work;
    data_ = data;
    cpus_.clear();
    cpus_.take();
    state_ = (state_ / next_launch + 1) * next_launch + is_open;
    for (int present = present_; present < helpers_; ++present) {
      ++present_;
      arena_.enqueue([this] { help(); });
    }
    work(data);
    state_ -= is_open;
    wait_for_helpers();
    is_busy_.clear();
  }

 private:
  // state_: the helpers in the launch, whether it is open to more, and its number
  static constexpr std::uint64_t is_open = 1 << 16, next_launch = 1 << 17;
  static constexpr auto patience = std::chrono::microseconds(100);  ///< the time between two launches of most programs is shorter

  void help() {
    count_thread();
    std::uint64_t seen = 0;
    while (true) {
      seen = take_part(seen);
      if (is_newer_soon(seen)) continue;
      --present_;
      if (!is_newer(seen)) return;
      ++present_;  // run() has counted on this helper
    }
  }

  /// Works in the launch if it is open and not the one `seen` before. Returns the number of the last one.
  std::uint64_t take_part(std::uint64_t seen) {
    std::uint64_t state = state_;
    while ((state & is_open) != 0 && state / next_launch != seen)
      if (state_.compare_exchange_weak(state, state + 1)) {
        cpus_.take();
        work_(data_);
        if ((--state_ & (next_launch - 1)) == 0) state_.notify_all();
        break;
      }
    return state / next_launch;
  }

  bool is_newer(std::uint64_t seen) const { return state_ / next_launch != seen; }

  bool is_newer_soon(std::uint64_t seen) const {
    const auto end = std::chrono::steady_clock::now() + patience;
    while (!is_newer(seen)) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::yield();
    }
    return true;
  }

  void wait_for_helpers() {
    const auto end = std::chrono::steady_clock::now() + patience;
    for (std::uint64_t state = state_; state % next_launch != 0; state = state_)
      if (std::chrono::steady_clock::now() > end)
        state_.wait(state);
      else
        std::this_thread::yield();
  }

  const int helpers_;
  tbb::task_arena arena_;
  std::atomic_flag is_busy_;
  Work work_ = nullptr;
  void* data_ = nullptr;
  alignas(64) TakenCpus cpus_;
  alignas(64) std::atomic<std::uint64_t> state_ = 0;
  std::atomic<int> present_ = 0;  ///< helpers that work, look for a launch, or have been asked for
};

/// A team for each number of threads. The first launch on several threads makes it. Never destroyed: launches may come from destructors
/// at exit.
class Teams {
 public:
  Team& of(int jobs) {
    const std::lock_guard lock(mutex_);
    std::unique_ptr<Team>& team = teams_[jobs];
    if (team == nullptr) {
      allow(jobs);
      team = std::make_unique<Team>(jobs);
    }
    return *team;
  }
  /// A child of fork() has none of the pool's threads, and perhaps a lock that one of them held.
  bool in_child() const { return getpid() != process_; }

 private:
  /// oneTBB has no more threads than cores that the process may use, unless it is asked. Of several that ask, the least counts.
  void allow(int jobs) {
    if (jobs <= allowed_) return;
    allowed_ = jobs;
    more_.reset();
    more_.emplace(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(jobs));
  }

  const pid_t process_ = getpid();
  std::mutex mutex_;
  int allowed_ = tbb::info::default_concurrency();
  std::optional<tbb::global_control> more_;
  std::map<int, std::unique_ptr<Team>> teams_;
};

Teams& teams() {
  static auto* const all = new Teams;
  return *all;
}

void run_in_pool(int jobs, Work work, void* data) {
  if (teams().in_child()) return work(data);
  teams().of(jobs).run(work, data);
}

}  // namespace

int pool_threads() {
  return threads_so_far;
}

void use_thread_pool() {
  if (!sanitizes_threads) set_threads(run_in_pool);
}

}  // namespace warpmat
