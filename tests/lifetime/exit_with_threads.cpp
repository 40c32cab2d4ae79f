// main returns while other threads still make and execute instructions: destructors at exit take nothing from under them.

#include <atomic>
#include <chrono>
#include <thread>

#include "lifetime/check.h"

using namespace warpmat;

namespace {

std::atomic<int> rounds{0};

void wait_for_rounds(int more) {
  const int until = rounds + more;
  while (rounds < until) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

/// Made first, so destroyed last: threads go on for a while after everything else of static storage is destroyed.
struct LastAtExit {
  ~LastAtExit() { wait_for_rounds(20); }
} last_at_exit;

void work(const char* target) {
  for (;;) {
    for (const Form& form : forms())
      if (!unavailable(form, warpmat::target(target))) Instruction(form.opcode, target);
    if (!lifetime::library_works()) lifetime::fail("wrong results while the process ends");
    ++rounds;
  }
}

}  // namespace

int main() {
  for (const char* target : {"sm_90a", "sm_80"}) std::thread(work, target).detach();
  wait_for_rounds(2);
}
