// `warpmat cuda --gpus`.

#include <string>
#include <vector>

#include "catch.h"
#include "cuda/nvcc_program.h"
#include "paths.h"
#include "tools/command.h"

namespace warpmat::command_test {
namespace {

Outcome run_on(const std::string& gpus, const std::string& program) {
  return run_command({"cuda", "--gpus", gpus, program});
}

}  // namespace

TEST_CASE("two GPUs answer as two H200 did", "[cuda][slow]") {
  if (!has_nvcc()) return;
  const TemporaryDirectory directory;
  const std::string built = directory.path("gpus");
  compile_program(built, {"gpus"}, {"-std=c++20", "-lcuda"});
  const Outcome outcome = run_on("2", built);
  INFO(outcome.err);
  CHECK(outcome.out == read_text(source_path("tests/cuda/programs/gpus.txt")));
  CHECK(outcome.status == 1);  // kernels failed
  CHECK_THAT(outcome.err,
             ContainsSubstring("load of 4 bytes from global memory of GPU 1 by GPU 0, which has no access to it (kernel copy"));
  CHECK_THAT(outcome.err, ContainsSubstring("help: cudaDeviceEnablePeerAccess gives access"));
}

TEST_CASE("a program has 1 to 16 GPUs", "[cuda]") {
  CHECK_THAT(run_on("0", "true").err, ContainsSubstring("--gpus: Value 0 not in range 1 to 16"));
  CHECK_THAT(run_on("17", "true").err, ContainsSubstring("--gpus: Value 17 not in range 1 to 16"));
  CHECK(run_on("16", "true").status == 0);
}

}  // namespace warpmat::command_test
