#include <sched.h>

#include <warpmat/pool/taken_cpus.h>

#include "test.h"

using namespace warpmat;

#if defined(__linux__)
namespace warpmat::taken_cpus_test {
namespace {

cpu_set_t usable() {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  (void)sched_getaffinity(0, sizeof cpus, &cpus);
  return cpus;
}

int first_usable() {
  const cpu_set_t cpus = usable();
  int first = 0;
  while (first < CPU_SETSIZE - 1 && !CPU_ISSET(static_cast<std::size_t>(first), &cpus)) ++first;
  return first;
}

struct Taken {
  int cpu = -1;       ///< on which the thread is afterwards
  bool kept = false;  ///< it may use the CPUs that it could use before
};

/// For the length of a test: what TakenCpus finds of the machine.
struct Runnable {
  explicit Runnable(RunnableThreads runnable) { set_runnable_threads(runnable); }
  ~Runnable() { set_runnable_threads(nullptr); }
};

/// A thread that begins on `cpu` and takes it, or another one. With `alone` it may use no other.
Taken take_on_a_thread(TakenCpus& taken, int cpu, bool alone = false) {
  Taken result;
  std::thread([&] {
    cpu_set_t one, before = usable();
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(cpu), &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0) return;
    if (alone)
      before = one;
    else if (sched_setaffinity(0, sizeof before, &before) != 0)
      return;
    taken.take();
    result.cpu = sched_getcpu();
    const cpu_set_t after = usable();
    result.kept = CPU_EQUAL(&before, &after);
  }).join();
  return result;
}

/// How often of 20 times the second thread that begins on one CPU moves to another.
int moves_of_second() {
  int moved = 0;
  for (int i = 0; i < 20; ++i) {  // of which Linux may move some, too
    TakenCpus taken;
    CHECK(take_on_a_thread(taken, first_usable()).kept);
    const Taken second = take_on_a_thread(taken, first_usable());
    CHECK(second.kept);
    moved += second.cpu >= 0 && second.cpu != first_usable() ? 1 : 0;
  }
  return moved;
}

}  // namespace

TEST_CASE("A thread that begins on the CPU of another one of its launch moves to a free one", "[machine][pool]") {
  const cpu_set_t cpus = usable();
  if (CPU_COUNT(&cpus) < 2) {
    WARN("skipped: the process may use one CPU alone");
    return;
  }
  const Runnable runnable([] { return 2; });
  CHECK(moves_of_second() > 10);
}

TEST_CASE("A thread stays on another one's CPU where more threads want to run than there are CPUs, or nothing says how many",
          "[machine][pool]") {
  {
    const Runnable runnable([] { return CPU_SETSIZE + 1; });
    CHECK(moves_of_second() < 10);
  }
  const Runnable runnable([] { return -1; });
  CHECK(moves_of_second() < 10);
}

TEST_CASE("A thread stays on its CPU where no other one of its launch has it", "[machine][pool]") {
  int stayed = 0;
  TakenCpus taken;
  for (int i = 0; i < 20; ++i) {
    stayed += take_on_a_thread(taken, first_usable()).cpu == first_usable() ? 1 : 0;
    taken.clear();
  }
  CHECK(stayed > 10);
}

TEST_CASE("A thread stays where all CPUs that it may use are taken", "[machine][pool]") {
  TakenCpus taken;
  for (int i = 0; i < 3; ++i) {
    const Taken each = take_on_a_thread(taken, first_usable(), true);
    CHECK(each.cpu == first_usable());
    CHECK(each.kept);
  }
}

}  // namespace warpmat::taken_cpus_test
#endif
