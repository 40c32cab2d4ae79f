#include <sys/wait.h>
#include <unistd.h>

#include <mutex>
#include <numeric>
#include <set>
#include <thread>
#include <vector>

#include <warpmat/machine/threads.h>
#include <warpmat/observer.h>
#include <warpmat/pool/thread_pool.h>

#include "catch.h"
#include "machine/kernel.h"

using namespace warpmat;

namespace warpmat::thread_pool_test {
namespace {

/// Each test begins and ends with threads that end with their launch.
struct OwnThreadsAtEnd {
  ~OwnThreadsAtEnd() { machine::set_threads(nullptr); }
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

}  // namespace

TEST_CASE("Launches of several blocks ask for threads, those of one block or one job do not", "[machine][pool]") {
  const OwnThreadsAtEnd at_end;
  machine::set_threads(count);
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

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // threads of each launch instead; no fork beside threads
TEST_CASE("The pool's threads stay, and help in launches", "[machine][pool]") {
  const OwnThreadsAtEnd at_end;
  use_thread_pool();
  std::mutex mutex;
  std::set<std::thread::id> threads;
  LaunchOptions options{.jobs = 3};
  options.observer_of_cluster = [&](std::uint64_t) {
    const std::lock_guard lock(mutex);
    threads.insert(std::this_thread::get_id());
    return nullptr;
  };
  // Long enough for a thread that sleeps to come: the launches go on until one has, or for some seconds.
  const Module slow = word_kernel(R"(
    mov.u32 %r1, 0;
again:
    add.u32 %d, %d, %r1;
    add.u32 %r1, %r1, 1;
    setp.lt.u32 %p1, %r1, 2000;
    @%p1 bra again;
)");
  for (int i = 0; i < 50 || (threads.size() < 2 && i < 2000); ++i)
    CHECK(words_of(slow, {16}, {32}, options) == std::vector<std::uint32_t>(16 * 32, 1999 * 1000));
  CHECK(threads.size() >= 2);
  CHECK(threads.size() <= 3);
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

}  // namespace warpmat::thread_pool_test
