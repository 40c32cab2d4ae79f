#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <warpmat/machine/threads.h>
#include <warpmat/observer.h>
#include <warpmat/pool/taken_cpus.h>
#include <warpmat/pool/thread_pool.h>

#include "machine/kernel.h"
#include "test.h"

using namespace warpmat;

namespace warpmat::thread_pool_test {
namespace {

/// Each test begins and ends with threads that end with their launch.
struct OwnThreadsAtEnd {
  ~OwnThreadsAtEnd() { set_threads(nullptr); }
};

const Module& numbers() {
  static const Module module = word_kernel("mov.u32 %d, %i;");
  return module;
}

std::vector<std::uint32_t> up_to(std::uint32_t count) {
  std::vector<std::uint32_t> all(count);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

int asked = 0, jobs_asked = 0;

void count(int jobs, void (*work)(void* data), void* data) {
  ++asked;
  jobs_asked = jobs;
  work(data);
}

TEST_CASE("Launches of several blocks ask for threads, those of one block or one job do not", "[machine][pool]") {
  const OwnThreadsAtEnd at_end;
  set_threads(count);
  asked = 0;
  CHECK(words_of(numbers(), {1}, {64}, {.jobs = 4}) == up_to(64));
  CHECK(words_of(numbers(), {9}, {64}, {.jobs = 1}) == up_to(9 * 64));
  CHECK(asked == 0);
  CHECK(words_of(numbers(), {9}, {64}, {.jobs = 4}) == up_to(9 * 64));
  CHECK(asked == 1);
  CHECK(jobs_asked == 4);
  CHECK(words_of(numbers(), {3}, {64}, {.jobs = 4}) == up_to(3 * 64));
  CHECK(jobs_asked == 3);
}

#if defined(__linux__)
TEST_CASE("0 jobs are the cores that the process may use", "[machine][pool]") {
  const OwnThreadsAtEnd at_end;
  set_threads(count);
  cpu_set_t all, one;
  REQUIRE(sched_getaffinity(0, sizeof all, &all) == 0);
  const int cores = CPU_COUNT(&all);
  CHECK(machine::usable_cores() == static_cast<unsigned>(cores));
  asked = jobs_asked = 0;
  const auto blocks = static_cast<std::uint32_t>(cores + 1);
  CHECK(words_of(numbers(), {blocks}, {64}, {.jobs = 0}) == up_to(blocks * 64));
  CHECK(jobs_asked == (cores == 1 ? 0 : cores));

  std::size_t first = 0;
  while (!CPU_ISSET(first, &all)) ++first;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
  asked = 0;
  CHECK(machine::usable_cores() == 1);
  CHECK(words_of(numbers(), {9}, {64}, {.jobs = 0}) == up_to(9 * 64));
  CHECK(asked == 0);
  REQUIRE(sched_setaffinity(0, sizeof all, &all) == 0);
}
#endif

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // threads of each launch instead; no fork beside threads

/// A thread of it needs 0.1 ms.
const Module& slow() {
  static const Module module = word_kernel(R"(
    mov.u32 %r1, 0;
again:
    add.u32 %d, %d, %r1;
    add.u32 %r1, %r1, 1;
    setp.lt.u32 %p1, %r1, 2000;
    @%p1 bra again;
)");
  return module;
}

TEST_CASE("The pool's threads stay, and help in launches", "[machine][pool]") {
  const OwnThreadsAtEnd at_end;
  use_thread_pool();
  std::mutex mutex;
  std::set<std::thread::id> threads;
  LaunchOptions options{.jobs = 3};
  options.observers_of_clusters = {[&](std::uint64_t) {
    const std::lock_guard lock(mutex);
    threads.insert(std::this_thread::get_id());
    return nullptr;
  }};
  // Long enough for a thread that sleeps to come: the launches go on until one has, or for some seconds.
  for (int i = 0; i < 50 || (threads.size() < 2 && i < 2000); ++i)
    CHECK(words_of(slow(), {16}, {32}, options) == std::vector<std::uint32_t>(16 * 32, 1999 * 1000));
  CHECK(threads.size() >= 2);
  CHECK(threads.size() <= 3);
}

#if defined(__linux__)
TEST_CASE("A helper that begins on its caller's CPU moves to another one", "[machine][pool]") {
  cpu_set_t all, one;
  REQUIRE(sched_getaffinity(0, sizeof all, &all) == 0);
  if (CPU_COUNT(&all) < 2) {
    WARN("skipped: the process may use one CPU alone");
    return;
  }
  struct UsualLoad {
    UsualLoad() {
      set_runnable_threads([] { return 2; });
    }
    ~UsualLoad() { set_runnable_threads(nullptr); }
  } const usual_load;
  const OwnThreadsAtEnd at_end;
  use_thread_pool();
  const int cpu = sched_getcpu();
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(cpu), &one);
  std::atomic<int> launch = 0, apart = 0, together = 0;
  const std::thread::id caller = std::this_thread::get_id();
  LaunchOptions options{.jobs = 2};
  options.observers_of_clusters = {[&, last = -1](std::uint64_t) mutable {  // of one helper, so `last` needs no lock
    if (std::this_thread::get_id() == caller) return nullptr;
    if (std::exchange(last, launch.load()) != launch) ++(sched_getcpu() == cpu ? together : apart);
    cpu_set_t own;  // on the caller's CPU for the next launch, if it comes at once
    if (sched_getaffinity(0, sizeof own, &own) == 0 && sched_setaffinity(0, sizeof one, &one) == 0)
      (void)sched_setaffinity(0, sizeof own, &own);
    return nullptr;
  }};
  // The other CPUs stay usable for the helper, which is made in the first launch.
  for (int i = 0; i < 4000 && apart + together < 30; ++i) {
    ++launch;
    CHECK(words_of(slow(), {16}, {32}, options) == std::vector<std::uint32_t>(16 * 32, 1999 * 1000));
    if (i == 0) REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
  }
  REQUIRE(sched_setaffinity(0, sizeof all, &all) == 0);
  CHECK(apart > 2 * together);
}
#endif

TEST_CASE("Launches of several threads at once, and many one after the other, run each block once", "[machine][pool]") {
  const OwnThreadsAtEnd at_end;
  use_thread_pool();
  constexpr int threads = 3, launches = 300;
  std::vector<int> right(threads);
  std::vector<std::thread> all;
  for (int& count : right)
    all.emplace_back([&count] {
      for (int i = 0; i < launches; ++i) {
        if (i % 100 == 99) std::this_thread::sleep_for(std::chrono::milliseconds(2));  // long enough for helpers to leave
        count += words_of(numbers(), {9}, {64}, {.jobs = 2 + i % 3}) == up_to(9 * 64) ? 1 : 0;
      }
    });
  for (std::thread& thread : all) thread.join();
  CHECK(right == std::vector<int>(threads, launches));
}

TEST_CASE("A launch within a launch runs in its thread", "[machine][pool]") {
  const OwnThreadsAtEnd at_end;
  use_thread_pool();
  std::atomic<int> right = 0;
  LaunchOptions options{.jobs = 3};
  options.observers_of_clusters = {[&](std::uint64_t) {
    if (words_of(numbers(), {9}, {64}, {.jobs = 3}) == up_to(9 * 64)) ++right;
    return nullptr;
  }};
  CHECK(words_of(numbers(), {20}, {64}, options) == up_to(20 * 64));
  CHECK(right == 20);
}

TEST_CASE("A child of fork runs its launches alone", "[machine][pool]") {
  const OwnThreadsAtEnd at_end;
  use_thread_pool();
  CHECK(words_of(numbers(), {40}, {64}, {.jobs = 4}) == up_to(40 * 64));
  constexpr unsigned patience_seconds = 30;  // of a child that hangs, also on a busy machine
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    alarm(patience_seconds);
    _exit(words_of(numbers(), {40}, {64}, {.jobs = 4}) == up_to(40 * 64) ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}
#endif

}  // namespace
}  // namespace warpmat::thread_pool_test
