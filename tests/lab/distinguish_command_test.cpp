#include <nlohmann/json.hpp>

#include "lab/lab_command.h"
#include "test.h"
#include "tools/command.h"

namespace warpmat::distinguish_test {
namespace {

using Json = nlohmann::json;

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
}  // namespace warpmat::distinguish_test
