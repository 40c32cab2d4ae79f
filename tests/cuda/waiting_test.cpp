
#include "cuda/nvcc_program.h"
#include "test.h"
#include "tools/command.h"

// Programs whose kernels wait: programs/waiting.cu.

namespace warpmat::waiting_test {
namespace {

Outcome run_waiting(const std::string& program, const std::string& jobs, const std::vector<std::string>& arguments = {}) {
  std::vector<std::string> command{"cuda", "--quiet", "--jobs", jobs, program};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return run_command(command);
}

std::string expected() {
  std::string text;
  const char* const polls[] = {"volatile", "ld.acquire",  "atomicAdd", "atomicCAS", "nanosleep",
                               "clock64",  "globaltimer", "barrier",   "told",      "weak"};
  for (int poll = 0; poll < 10; ++poll)
    for (const char* const waker :
         {"kernel", "copy", "copy of pageable", "fill", "host function", "host store", "host thread", "graph", "event"}) {
      const std::string blocks = std::to_string(1 + poll % 3);
      text += std::string(polls[poll]) + ", " + waker + ": before cudaErrorNotReady -1, then " + blocks + " of " + blocks + "\n";
    }
  return text +
         "the host stops it\nserved\npersistent: 2870\n"
         "player 0 ends at 15\nplayer 1 ends at 16\nplayers: 16\n"
         "producer and consumer, consumer first: 1240\nproducer and consumer, producer first: 1240\n"
         "chain: cudaErrorNotReady, then 7, time positive\nbranches: 1\n"
         "gives up by the clock: 1\ngives up by the clock: 2\n"
         "value 0: 0, cudaErrorNotReady, then 7\nvalue 1: 0, cudaErrorNotReady, then 7\n"
         "value 2: 0, cudaErrorNotReady, then 7\nvalue 3: 0, cudaErrorNotReady, then 7\n"
         "misaligned, managed, comparison: 1 1 1\nthreads: cudaSuccess, 1\n";
}

TEST_CASE("programs whose kernels wait print the same on any number of threads", "[cuda][waiting][slow]") {
  if (!has_nvcc()) return;
  const TemporaryDirectory directory;
  const std::string built = directory.path("waiting");
  compile_program(built, {"waiting"}, {"-lineinfo", "--default-stream", "per-thread"});
  for (const char* const jobs : {"1", "3", "8"}) {
    INFO(jobs);
    const Outcome outcome = run_waiting(built, jobs);
    CHECK(outcome.status == 0);
    CHECK(outcome.out == expected());
    CHECK(outcome.err == "");
    for (const char* const kind : {"alone", "clock", "behind", "both", "told", "value"}) {
      INFO(kind);
      const auto begun = std::chrono::steady_clock::now();
      const Outcome ended = run_waiting(built, jobs, {kind});
      CHECK(std::chrono::steady_clock::now() - begun < std::chrono::seconds(20));  // of a machine that does other things, too
      CHECK(ended.out == "cudaSuccess, cudaErrorLaunchTimeout\n");
      const std::string place = kind == std::string("value")  ? "has exactly 0x7; it is 0x1"
                                : kind == std::string("told") ? ""
                                                              : "ld.volatile.global";
      CHECK_THAT(ended.err, ContainsSubstring("deadlock: ") && ContainsSubstring(place));
    }
  }
}

}  // namespace
}  // namespace warpmat::waiting_test
