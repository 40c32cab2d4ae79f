#include "tools/library/interruption.h"

#include <signal.h>

#include <atomic>

namespace warpmat {
namespace {

std::atomic<int> caught{0};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler may touch nothing else");

extern "C" void note_signal(int signal) { caught = signal; }

}  // namespace

void catch_interruptions() {
  for (const int signal : {SIGINT, SIGTERM}) {
    struct sigaction old {};
    sigaction(signal, nullptr, &old);
    if (old.sa_handler == SIG_IGN) continue;
    struct sigaction action {};
    action.sa_handler = note_signal;
    action.sa_flags = static_cast<int>(SA_RESTART | SA_RESETHAND);
    sigemptyset(&action.sa_mask);
    sigaction(signal, &action, nullptr);
  }
}

int interruption() { return caught; }

void throw_if_interrupted(const std::string& what) {
  if (interruption() != 0) throw Interrupted(interruption(), what);
}

}  // namespace warpmat
