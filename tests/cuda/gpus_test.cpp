// `warpmat cuda --gpus`.

#include "cuda/nvcc_program.h"
#include "test.h"
#include "tools/command.h"

namespace warpmat::command_test {
namespace {

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
}  // namespace warpmat::command_test
