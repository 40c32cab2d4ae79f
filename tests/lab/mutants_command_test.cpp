#include <warpmat/forms.h>

#include <nlohmann/json.hpp>

#include "gpu/recordings/vectors.h"
#include "gpu/runners/emulator_runner.h"
#include "test.h"
#include "tools/command.h"

namespace warpmat::mutants_test {
namespace {

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

}  // namespace
}  // namespace warpmat::mutants_test
