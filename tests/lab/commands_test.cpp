// The subcommands of warpmat-lab; fuzz has a file of its own.

#include <warpmat/forms.h>
#include <nlohmann/json.hpp>

#include "gpu/cuda/gpu_runner.h"
#include "gpu/recordings/vectors.h"
#include "gpu/runners/emulator_runner.h"
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

using Json = nlohmann::json;

constexpr const char* product = "mma.sync.aligned.m8n8k16.row.col.satfinite.s32.s8.s8.s32";

/// A recording of the emulator's own answers to `warps` cases of the classes.
Recording recorded(std::size_t warps) {
  EmulatorRunner emulator;
  Recording recording{{"some card", "9.0", "1", "2", "sm_90a", "2025-01-31", 5, case_generator_version}, {}};
  for (const OperandClass& operand_class : operand_classes())
    if (applies(operand_class, *find_form(product)))
      recording.answers.push_back(record(emulator, *find_form(product), target("sm_90a"), operand_class, 5, {warps, warps, 1}));
  return recording;
}

TEST_CASE("mutants counts what recorded answers kill", "[tools]") {
  const TemporaryDirectory directory;
  write_text(directory.path("a.jsonl.gz"), encode(recorded(128)));
  const Outcome outcome = run_command({"mutants", directory.path("a.jsonl.gz"), "--json", directory.path("verdicts.json")});
  CHECK(outcome.status == 0);
  CHECK(contains(outcome.out, "78 mutants of 1 form: 78 killed by recorded answers alone, 0 survive.\n"));
  CHECK(contains(outcome.out, "| clamp_left_out | 1 | 1 | 1 |\n"));
  CHECK(contains(outcome.out, "| layout of a | 1 | 21 | 21 |\n"));
  const Json verdicts = Json::parse(read_text(directory.path("verdicts.json")));
  CHECK(verdicts.size() == 78);
  CHECK(verdicts.at(0).at("killed") == true);
}

TEST_CASE("mutants fails if one survives unexpectedly", "[tools]") {
  const TemporaryDirectory directory;
  Recording few = recorded(1);
  few.answers.resize(1);  // random bits come nowhere near the limits of the accumulator
  write_text(directory.path("a.jsonl.gz"), encode(few));
  const Outcome outcome = run_command({"mutants", directory.path("a.jsonl.gz")});
  CHECK(outcome.status == 1);
  CHECK(contains(outcome.err, "survives without a known reason"));
  CHECK(contains(outcome.out, "| survivor | forms | why |"));
}

TEST_CASE("mutants refuses recordings that are not the emulator's", "[tools]") {
  const TemporaryDirectory directory;
  Recording wrong = recorded(4);
  wrong.answers.front().digests.front() = std::string(32, '0');
  write_text(directory.path("a.jsonl.gz"), encode(wrong));
  const Outcome outcome = run_command({"mutants", directory.path("a.jsonl.gz")});
  CHECK(outcome.status == 1);
  CHECK(contains(outcome.err, product));
}

constexpr const char* f16_k8 = "m16n8k8.*f32.f16";

TEST_CASE("distinguish writes a program that needs no input and says what each model answers", "[tools]") {
  const TemporaryDirectory directory;
  const std::string json = directory.path("answers.json");
  const Outcome outcome =
      run_command({"distinguish", "hopper", "hopper:result_nearest", "--forms", f16_k8, "--out", directory.path(""), "--json", json});
  REQUIRE(outcome.status == 0);
  CHECK(contains(outcome.out, "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32\n"));
  CHECK(contains(outcome.out, "\nhopper: 0x"));
  CHECK(contains(outcome.out, "\nhopper:result_nearest: 0x"));
  CHECK(directory.files() == std::vector<std::string>{"answers.json", "distinguish_1.ptx"});

  const Json finding = Json::parse(read_text(json)).at("findings").at(0);
  CHECK(finding.at("first") != finding.at("second"));
  // What the program leaves in D is the answer of the first model, which is the emulator's.
  const Outcome run = run_command({"run", directory.path("distinguish_1.ptx"), "--print", "0.d:f32"});
  CHECK(run.status == 0);
  CHECK_FALSE(run.out.empty());
}

TEST_CASE("distinguish asks a GPU and says which model it follows", "[tools]") {
  const TemporaryDirectory directory;
  const Outcome outcome = run_lab_pretending({"distinguish", "hopper", "ampere", "--forms", f16_k8, "--out", directory.path(""), "--gpu"});
  CHECK(outcome.status == 0);
  CHECK(contains(outcome.out, "the card: 0x"));
  CHECK(contains(outcome.out, ", as the first\n"));
  const Outcome exchanged =
      run_lab_pretending({"distinguish", "ampere", "hopper", "--forms", f16_k8, "--out", directory.path(""), "--gpu"});
  CHECK(contains(exchanged.out, ", as the second\n"));
}

TEST_CASE("distinguish writes a program for each form where that is asked for", "[tools]") {
  const TemporaryDirectory directory;
  const Outcome outcome = run_command({"distinguish", "hopper", "hopper:cut_down", "--forms", "^mma.sync.*m16n8k8.row.col.f(16|32).f16",
                                       "--each", "--out", directory.path("")});
  CHECK(outcome.status == 0);
  CHECK(contains(outcome.out, "2 of 2 forms tell the two models apart\n"));
  CHECK(directory.files() == std::vector<std::string>{"distinguish_1.ptx", "distinguish_2.ptx"});
}

TEST_CASE("distinguish refuses what it cannot ask in one sentence", "[tools]") {
  const auto refusal = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "distinguish");
    const Outcome outcome = run_command(arguments);
    CHECK(outcome.status != 0);
    CHECK(outcome.out.empty());
    return outcome.err;
  };
  CHECK(refusal({"hopper", "hopper"}) == "warpmat: error: the two models are the same\n");
  CHECK(contains(refusal({"hopper", "grasshopper"}), "no model 'grasshopper'; there are table, "));
  CHECK(contains(refusal({"hopper", "hopper:cut_up"}), "no deviation 'cut_up'"));
  CHECK(contains(refusal({"table", "table:clamp_added", "--forms", "f64"}), "clamp_added does not concern mma."));
  CHECK(contains(refusal({"hopper", "ampere", "--forms", "s8.s8"}), "is not executed by a unit that has a model"));
  CHECK(contains(refusal({"hopper", "ampere", "--out", "/nonexistent"}), "cannot write"));
  CHECK(contains(refusal({"hopper", "hopper:step_bytes=64", "--forms", f16_k8, "--cases", "16"}),
                 "no operands found on which hopper and hopper:step_bytes=64 differ, in 16 cases of each class of 1 form"));
}

TEST_CASE("distinguish --help lists models, constants and deviations", "[tools]") {
  const Outcome outcome = run_command({"distinguish", "--help"});
  CHECK(outcome.status == 0);
  for (const char* word : {"hopper", "floor_f16", "products_normalised", "Examples:"}) CHECK(contains(outcome.out, word));
}

}  // namespace
}  // namespace warpmat::lab_commands_test
