#include <string>

#include "catch.h"
#include "command.h"
#include "contains.h"

namespace warpmat::fuzz_test {
namespace {

TEST_CASE("fuzz --kernels ends with its counts where a kernel hangs the GPU", "[tools][fuzz]") {
  const TemporaryDirectory directory;
  const Outcome outcome = run_pretending({"fuzz", "--kernels", "--programs", "10", "--seed", "5", "--keep", directory.path("")},
                                         {"WARPMAT_PRETEND_FAULTS=hang"});
  INFO(outcome.out << outcome.err);
  CHECK(outcome.status == 1);
  CHECK(contains(outcome.out, "2 of 10 kernels from 0 on, "));
  CHECK(contains(outcome.out, ", 0 kernels differ; "));
  CHECK(contains(outcome.out, "pretended GPU, seed 5"));
  CHECK(contains(outcome.err, "warpmat: error: seed 5, kernel 2 ("));
  CHECK(contains(outcome.err, "it did not end within 60 seconds"));
  CHECK(directory.files().size() >= 1);  // the kernel that hung
}

}  // namespace
}  // namespace warpmat::fuzz_test
