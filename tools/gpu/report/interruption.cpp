#include "tools/gpu/report/interruption.h"

#include <signal.h>
#include <time.h>

#include <atomic>
#include <cstdint>

namespace warpmat {
namespace {

std::atomic<int> caught{0};
std::atomic<std::int64_t> caught_at{0};  ///< milliseconds of a clock that no one sets
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<std::int64_t>::is_always_lock_free,
              "a signal handler may touch nothing else");

std::int64_t milliseconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);  // async-signal-safe
  return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

extern "C" void note_signal(int number) {
  constexpr std::int64_t once = 1000;  // timeout(1) and batch systems send the signal to the process and to its group: it counts once
  int none = 0;
  if (caught.compare_exchange_strong(none, number)) {
    caught_at = milliseconds();
    return;
  }
  if (milliseconds() - caught_at < once) return;
  signal(number, SIG_DFL);
  raise(number);
}

}  // namespace

void catch_interruptions() {
  for (const int signal : {SIGINT, SIGTERM}) {
    struct sigaction old {};
    sigaction(signal, nullptr, &old);
    if (old.sa_handler == SIG_IGN) continue;
    struct sigaction action {};
    action.sa_handler = note_signal;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(signal, &action, nullptr);
  }
}

int interruption() {
  return caught;
}

void throw_if_interrupted(const std::string& what) {
  if (interruption() != 0) throw Interrupted(interruption(), what);
}

}  // namespace warpmat
