// With nvcc, tests/cuda/programs/errors.cu prints what it printed on an H200. tests/golden/cuda/errors.txt has what a program prints
// without nvcc.

#include "cuda/nvcc_program.h"
#include "test.h"
#include "tools/command.h"

namespace warpmat::nvcc_programs_test {
namespace {

/// The lines of a text, without those that begin with one of `left_out`.
std::vector<std::string> lines_without(const std::string& text, const std::vector<std::string>& left_out) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    if (std::ranges::none_of(left_out, [&](const std::string& begin) { return line.starts_with(begin); })) lines.push_back(line);
  return lines;
}

TEST_CASE("errors have the codes and the stickiness that an H200 gave", "[cuda][slow]") {
  if (!has_nvcc()) return;
  const TemporaryDirectory directory;
  const std::string built = directory.path("errors");
  compile_program(built, {"errors"}, {"-std=c++17"});
  const Outcome outcome = run_program(built, {}, {"LD_LIBRARY_PATH=" + cuda_libraries_path()});
  REQUIRE(outcome.status == 0);
  // docs/use/programs.md has the differences: what a capture refuses, and local memory, whose end the GPU does not check so far away. The
  // card hung in the kernel behind the last one here.
  const std::vector<std::string> known{"capture begun twice", "cudaMalloc in a capture", "local_far:", "-- calls_null"};
  std::vector<std::string> theirs = lines_without(read_text(source_path("tests/vectors/errors/h200.txt")), known);
  std::vector<std::string> ours = lines_without(outcome.out, known);
  const auto drop_reset_of_local = [](std::vector<std::string>& lines) {  // the line behind local_far's
    const auto heading = std::ranges::find(lines, "-- local_far");
    REQUIRE(heading != lines.end());
    lines.erase(heading + 1);
  };
  drop_reset_of_local(theirs);
  drop_reset_of_local(ours);
  REQUIRE(ours.size() == theirs.size());
  CHECK(ours.size() > 180);
  for (std::size_t i = 0; i < ours.size(); ++i) CHECK(ours[i] == theirs[i]);
}

// Programs whose kernels wait: programs/waiting.cu.

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

// `warpmat cuda --gpus`.

Outcome run_on(const std::string& gpus, std::vector<std::string> program) {
  program.insert(program.begin(), {"cuda", "--gpus", gpus});
  return run_command(program);
}

TEST_CASE("two GPUs answer as two H200 did", "[cuda][slow]") {
  if (!has_nvcc()) return;
  const TemporaryDirectory directory;
  const std::string built = directory.path("gpus");
  compile_program(built, {"gpus"}, {"-std=c++20", "-lcuda"});
  const Outcome outcome = run_on("2", {built});
  INFO(outcome.err);
  CHECK(outcome.out == read_text(source_path("tests/cuda/programs/gpus.txt")));
  CHECK(outcome.status == 1);  // kernels failed
  CHECK_THAT(outcome.err,
             ContainsSubstring("load of 4 bytes from global memory of GPU 1 by GPU 0, which has no access to it (kernel copy"));
  CHECK_THAT(outcome.err, ContainsSubstring("help: cudaDeviceEnablePeerAccess gives access"));
}

TEST_CASE("multimem reaches the memory of all GPUs of a multicast object", "[cuda][slow]") {
  if (!has_nvcc()) return;
  const TemporaryDirectory directory;
  const std::string built = directory.path("multicast");
  compile_program(built, {"multicast"}, {"-std=c++20", "-lcuda"});
  const std::string results =
      "supported 1, granularity 2097152, early 401, twice 1\n"
      "sum 5005, least 1 -2, floats 10.75 190.75\nhalves 2052 9.5\n"
      "stored 73 73, added 582 582\nkept 582\n";
  const Outcome outcome = run_on("2", {built});
  INFO(outcome.err);
  CHECK(outcome.out == results);
  CHECK(outcome.status == 0);
  CHECK_THAT(outcome.err, ContainsSubstring("assumed (the order in which the GPUs' numbers come"));
  const Outcome plain = run_on("2", {built, "plain"});
  CHECK(plain.out == results + "plain cudaErrorIllegalAddress\n");
  CHECK_THAT(plain.err, ContainsSubstring("of a multicast object, which multimem statements alone access (kernel plain"));
}

TEST_CASE("a program has 1 to 16 GPUs", "[cuda]") {
  CHECK_THAT(run_on("0", {"true"}).err, ContainsSubstring("--gpus: Value 0 not in range 1 to 16"));
  CHECK_THAT(run_on("17", {"true"}).err, ContainsSubstring("--gpus: Value 17 not in range 1 to 16"));
  CHECK(run_on("16", {"true"}).status == 0);
}

}  // namespace
}  // namespace warpmat::nvcc_programs_test
