// A process forks while another of its threads makes instructions: no lock may stay locked in the child, where that thread does not exist.

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "lifetime/check.h"

using namespace warpmat;

namespace {

constexpr int children = 60;
constexpr unsigned patience_seconds = 20;  // of a child that hangs, also on a busy machine

/// Whether a child that is made now can make and execute an instruction.
bool child_works() {
  const pid_t child = fork();
  if (child < 0) lifetime::fail("no more processes");
  if (child == 0) {
    alarm(patience_seconds);
    _exit(lifetime::multiplies(Instruction(lifetime::mma_opcode, "sm_90")) ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

int main() {
  std::atomic<bool> stop{false};
  std::thread maker([&] {
    while (!stop)
      for (const Target& target : targets())
        for (const Form& form : forms())
          if (!stop && !unavailable(form, target)) Instruction(form, target);
  });
  for (int i = 0; i < children; ++i)
    if (!child_works()) lifetime::fail("child " + std::to_string(i) + " hangs or gets wrong results");
  stop = true;
  maker.join();
}
