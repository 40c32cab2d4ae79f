// The subcommands of warpmat-lab that have no file of tests of their own.

#include "gpu/cuda/gpu_runner.h"
#include "lab/lab_command.h"
#include "test.h"
#include "tools/command.h"

namespace warpmat::lab_commands_test {
namespace {

TEST_CASE("exhaust compares digests of all operands", "[tools]") {
  const TemporaryDirectory directory;
  const std::string place = directory.path("answers");
  REQUIRE(run_pretending({"record", "--approximate", "--forms", "^ex2.approx.ftz.f32", "--out", place},
                         {no_faults, "WARPMAT_PRETEND_ANSWERS=zeros"})
              .status == 0);
  // Of these 16 blocks the last three, from -2^33 on, have zeros alone.
  const Outcome exhausted = run_command({"exhaust", place, "--every", "256"});
  CHECK(exhausted.status == 1);
  CHECK(contains(exhausted.out, " 13, the first from operand 0x00000000 on"));
  CHECK(contains(exhausted.out, "recorded: pretended GPU; sm_90a"));
}

TEST_CASE("exhaust names the first operand in which a card differs from the recorded one", "[tools]") {
  const std::string place = source_path("tests/vectors/sm_90/all_operands");
  const std::vector<std::string> arguments{"exhaust", place, "--gpu", "--every", "508", "--opcode", "rcp.approx.f32"};
  const Outcome outcome = run_lab_pretending(arguments);
  CHECK(outcome.status == 1);
  CHECK(contains(outcome.out, "1, the first at 0x3f800001: recorded 0x3f7ffffe, here 0x3f7fffff"));
  CHECK(contains(outcome.out, "compared with it: pretended GPU"));
  CHECK(run_lab_pretending(arguments, {no_faults}).status == 0);
}

TEST_CASE("constants compares every case, and says in which one differs", "[tools]") {
  const std::vector<std::string> asked{"constants", "--forms", "^rsqrt.approx.f32|^div.full", "--tuples", "8"};
  const Outcome equal = run_lab_pretending(asked, {no_faults});
  CHECK(equal.status == 0);
  // One unary row; of the other all operands constant, and each alone.
  CHECK(equal.out.find("4 cases, tuples 0 to 7 of each, 1024 outputs compared, 0 mismatches, 0 not run; pretended GPU") !=
        std::string::npos);
  const Outcome wrong = run_lab_pretending(asked);
  CHECK(wrong.status == 1);
  CHECK(wrong.out.find("div.full(.ftz)") == std::string::npos);
  CHECK(wrong.out.find("div.full.f32, a varies: tuple 0, lane 0: ") != std::string::npos);
  CHECK(wrong.err.find("4 outputs differ, 0 cases did not run") != std::string::npos);
}

TEST_CASE("device without a GPU is skipped, and refuses what it does not read", "[tools]") {
  const Outcome outcome = run_command({"device", "--forms", "no such opcode"});
  if (outcome.err.find("no opcode matches") == std::string::npos) {  // else a machine with a GPU
    CHECK(outcome.status == skipped_status);
    CHECK(outcome.err.starts_with("warpmat: skipped: no GPU"));
  }
  CHECK(run_command({"device", "--judged", "0"}).status > 1);
}

}  // namespace
}  // namespace warpmat::lab_commands_test
