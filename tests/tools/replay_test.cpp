#include <warpmat/forms.h>

#include "command.h"
#include "gpu/recordings/vectors.h"
#include "gpu/runners/emulator_runner.h"
#include "test.h"

namespace warpmat::replay_test {
namespace {

/// A recording of the emulator's own answers, for `opcode` on sm_90a.
Recording recorded(const char* opcode) {
  EmulatorRunner emulator;
  Recording recording{{"some card", "9.0", "1", "2", "sm_90a", "2025-01-31", 5, case_generator_version}, {}};
  for (const OperandClass& operand_class : operand_classes())
    if (applies(operand_class, *find_form(opcode)))
      recording.answers.push_back(record(emulator, *find_form(opcode), target("sm_90a"), operand_class, 5, {8, 4, 1}));
  return recording;
}

constexpr const char* product = "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32";
constexpr const char* store = "stmatrix.sync.aligned.m8n8.x1.shared.b16";

TEST_CASE("replay compares files and directories, and says where the answers come from", "[tools]") {
  const TemporaryDirectory directory;
  write_text(directory.path("a.jsonl.gz"), encode(recorded(product)));
  write_text(directory.path("b.jsonl.gz"), encode(recorded(store)));
  const std::string path = std::filesystem::path(directory.path("a.jsonl.gz")).parent_path();
  for (const auto& files : {std::vector<std::string>{path}, {directory.path("a.jsonl.gz"), directory.path("b.jsonl.gz")}}) {
    std::vector<std::string> arguments{"replay"};
    arguments.insert(arguments.end(), files.begin(), files.end());
    const Outcome outcome = run_command(arguments);
    CHECK(outcome.status == 0);
    CHECK(outcome.err.empty());
    CHECK(contains(outcome.out, "some card, compute capability 9.0, driver 1, assembler 2; sm_90a, seed 5, recorded 2025-01-31\n"));
    CHECK(contains(outcome.out, product));
    CHECK(contains(outcome.out, "2 forms, 12 classes: 11520 outputs compared, 0 classes differ, 0 not compared\n"));
  }
}

TEST_CASE("replay fails on a difference, and says where it is", "[tools]") {
  const TemporaryDirectory directory;
  Recording recording = recorded(product);
  recording.answers[2].examples[0][70] ^= 1;
  write_text(directory.path("a.jsonl.gz"), encode(recording));
  const Outcome outcome = run_command({"replay", directory.path("a.jsonl.gz")});
  CHECK(outcome.status == 1);
  CHECK(outcome.err == "warpmat: error: 1 of 11 recorded classes differ from the emulator\n");
  CHECK(contains(outcome.out,
                 std::string("differs: ") + product + ", class close: 0 of 2 blocks; warp 0, register word 2, lane 6: recorded 0x"));
}

TEST_CASE("replay counts what this build does not know", "[tools]") {
  const TemporaryDirectory directory;
  Recording recording = recorded(product);
  recording.answers[0].opcode = "mma.of.tomorrow";
  recording.answers[1].operand_class = "tomorrow";
  write_text(directory.path("a.jsonl.gz"), encode(recording));
  Outcome outcome = run_command({"replay", directory.path("a.jsonl.gz")});
  CHECK(outcome.status == 0);
  CHECK(contains(outcome.out, "not compared: this build has no form mma.of.tomorrow\n"));
  CHECK(contains(outcome.out, "not compared: this build has no operand class tomorrow\n"));
  CHECK(contains(outcome.out, "0 classes differ, 2 not compared\n"));

  ++recording.provenance.seed;
  write_text(directory.path("a.jsonl.gz"), encode(recording));
  outcome = run_command({"replay", directory.path("a.jsonl.gz")});
  CHECK(outcome.status == 1);
  CHECK(contains(outcome.err, "record them again"));
}

TEST_CASE("record either runs on a GPU or says that there is none", "[tools]") {
  const TemporaryDirectory directory;
  const std::string file = directory.path("a.jsonl.gz");
  const Outcome outcome = run_command({"record", "--out", file, "--forms", "movmatrix", "--cases", "4"});
  CAPTURE(outcome.err);
  CHECK((outcome.status == 0 || outcome.status == 77));
  CHECK((outcome.status == 77) == outcome.err.starts_with("warpmat: skipped: no GPU"));  // with one it may say what it does
  if (outcome.status == 77) CHECK(directory.files().empty());
  if (outcome.status == 0) CHECK(std::filesystem::file_size(file) > 0);
}

}  // namespace
}  // namespace warpmat::replay_test
