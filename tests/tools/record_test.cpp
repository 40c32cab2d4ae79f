
#include "command.h"
#include "gpu/compare/sweep.h"
#include "gpu/recordings/all_operands.h"
#include "gpu/recordings/vectors.h"
#include "test.h"

namespace warpmat::record_test {
namespace {

const std::string product = "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32";

TEST_CASE("record --all writes one file of every form, within its limit", "[tools]") {
  const TemporaryDirectory directory;
  const std::string file = directory.path("card.jsonl.gz");
  const Outcome outcome = run_pretending({"record", "--all", "--limit", "400kB", "--cases", "1", "--out", file}, {no_faults});
  CHECK(outcome.status == 0);
  CHECK(contains(outcome.out, "the emulator gives the same answers"));
  CHECK(contains(outcome.out, " examples left out to keep the limit; every digest is there"));
  CHECK(read_text(file).size() <= 400'000);
  CHECK(read_text(file).size() > 390'000);
  const Recording recording = read_recording(file);
  CHECK(recording.provenance.complete);
  CHECK(recording.provenance.forms == forms_of(target("sm_90a")).size());
  std::size_t answers = 0;
  for (const Form* form : forms_of(target("sm_90a")))
    for (const OperandClass& operand_class : operand_classes())
      if (applies(operand_class, *form)) answers += recorded_variants(*form, operand_class).size();
  CHECK(recording.answers.size() == answers);

  const Outcome evidence = run_command({"evidence", file});
  CHECK(evidence.status == 0);
  CHECK(contains(evidence.out, "# What a pretended GPU says of sm_90\n"));
  CHECK(contains(evidence.out, "| `LDSM` | 12 | measured | H200 | measured, again |"));
  CHECK(!contains(evidence.out, "contradict"));
  CHECK(!contains(evidence.out, "nothing"));
  CHECK(!contains(evidence.out, "without answers"));
}

TEST_CASE("the name of a file of --all contains the card", "[tools]") {
  const std::size_t forms = forms_of(target("sm_90a")).size();
  const Outcome outcome = run_pretending({"record", "--all", "--shard", "200/" + std::to_string(forms), "--cases", "1"}, {no_faults});
  CHECK(outcome.status == 0);
  const std::string name = "warpmat_sm_90_pretended_GPU_200_of_" + std::to_string(forms) + ".jsonl.gz";
  CHECK(contains(outcome.out, "1 forms in "));
  CHECK(contains(outcome.out, name));
  CHECK(read_recording(name).provenance.shard == Shard{200, forms});
  std::filesystem::remove(name);
}

TEST_CASE("a limit that no file keeps is refused", "[tools]") {
  const TemporaryDirectory directory;
  const Outcome tight =
      run_pretending({"record", "--forms", product, "--out", directory.path("a.jsonl.gz"), "--limit", "100"}, {no_faults});
  CHECK(tight.status == 1);
  CHECK(contains(tight.err, "the limit of 100 bytes is too small: without any example the file has "));
  CHECK(directory.files().empty());
}

TEST_CASE("evidence says what contradicts the emulator, and the file holds what shows it", "[tools]") {
  const TemporaryDirectory directory;
  const std::string file = directory.path("card.jsonl.gz");
  const Outcome outcome = run_pretending({"record", "--forms", "mma.*k8.*f16.f16", "--cases", "60", "--out", file});
  CHECK(outcome.status == 0);
  CHECK(contains(outcome.out, "the emulator gives other answers in "));
  const Recording recording = read_recording(file);
  for (const Answers& answers : recording.answers) CHECK(answers.example_warps == std::vector<std::size_t>{42});
  const Outcome evidence = run_command({"evidence", file});
  CHECK(evidence.status == 0);
  CHECK(contains(evidence.out, fmt::format("contradicted: {} classes of 2 forms differ", recording.answers.size())));
  CHECK(
      contains(evidence.out, fmt::format("- `{}`, class random: 1 of 1 blocks; warp 42, register word 0, lane 17: recorded 0x", product)));
  CHECK(contains(evidence.out, "Forms without answers for every class of operands:"));
}

TEST_CASE("evidence reports what answers of an unmeasured card would prove", "[tools]") {
  const TemporaryDirectory directory;
  Recording recording = read_recording([&] {
    run_pretending({"record", "--cases", "2", "--out", directory.path("a.jsonl.gz"), "--forms", "movmatrix|ldmatrix.*x4"}, {no_faults});
    return directory.path("a.jsonl.gz");
  }());
  recording.provenance.target = "sm_80";
  for (Answers& answers : recording.answers) answers.program_digest = "";  // programs name their target; nothing compares the digest
  write_text(directory.path("b.jsonl.gz"), encode(recording));
  const Outcome evidence = run_command({"evidence", directory.path("b.jsonl.gz")});
  CHECK(evidence.status == 0);
  CHECK(contains(evidence.out, "| `MOVM` | 1 | specified | PTX ISA 9.1 | measured |"));
  CHECK(contains(evidence.out, "says of sm_80"));
  CHECK(contains(evidence.out, "| `LDSM` | 12 | specified | PTX ISA 9.1 | agrees, but 8 forms lack answers |"));
}

TEST_CASE("the parts of a recording are the recording, and evidence refuses one that lacks a part", "[tools]") {
  const TemporaryDirectory directory;
  const auto record = [&](const std::string& name, std::vector<std::string> more) {
    more.insert(more.begin(), {"record", "--forms", "matrix.*x4|movmatrix", "--out", directory.path(name + ".jsonl.gz")});
    if (std::ranges::find(more, "--cases") == more.end()) more.insert(more.end(), {"--cases", "2"});
    CHECK(run_pretending(more, {no_faults}).status == 0);
    return directory.path(name + ".jsonl.gz");
  };
  const std::string whole = record("whole", {}), one = record("one", {"--shard", "1/2"}), two = record("two", {"--shard", "2/2"});
  const Outcome evidence = run_command({"evidence", one, two});
  CHECK(evidence.status == 0);
  CHECK(contains(evidence.out, "| `MOVM` | 1 | measured | H200 | measured, again |"));
  const std::string table = "| machine instruction";
  const std::string expected = run_command({"evidence", whole}).out;
  CHECK(evidence.out.substr(evidence.out.find(table)) == expected.substr(expected.find(table)));
  const auto refused = [&](const std::vector<std::string>& files, const std::string& reason) {
    std::vector<std::string> arguments{"evidence"};
    arguments.insert(arguments.end(), files.begin(), files.end());
    const Outcome outcome = run_command(arguments);
    CAPTURE(outcome.err);
    CHECK(outcome.status == 1);
    CHECK(contains(outcome.err, reason));
  };
  refused({two}, "part 1/2 is missing");
  refused({one, two, two}, "hold the same cases");
  refused({whole, one, two}, "have cases in common");
  refused({one, record("other", {"--shard", "2/2", "--seed", "3"})}, "seed: 1 and 3");
  refused({one, record("more", {"--shard", "2/2", "--cases", "3"})}, "warps of each class: 2 and 3");
}

TEST_CASE("record that is interrupted writes the forms that are done, marked incomplete", "[tools]") {
  for (const auto& [signal, status] : {std::pair{"INT 5", 130}, {"TERM 5", 143}}) {
    const TemporaryDirectory directory;
    const std::string file = directory.path("card.jsonl.gz");
    const Outcome outcome = run_pretending({"record", "--forms", "matrix", "--cases", "2", "--out", file},
                                           {no_faults, fmt::format("WARPMAT_PRETEND_SIGNAL={}", signal)});
    CHECK(outcome.status == status);
    CHECK(outcome.err == "warpmat: interrupted: 5 forms recorded; the others were not\n");
    CHECK(contains(outcome.out, "; incomplete\n"));
    const Recording recording = read_recording(file);
    CHECK(recording.answers.size() == 5);
    CHECK(!recording.provenance.complete);
    CHECK(contains(run_command({"evidence", file}).out, "; incomplete\n"));
  }
}

TEST_CASE("evidence reads a directory of one card's files, and nothing together with the JSON of runs", "[tools]") {
  const TemporaryDirectory directory;
  CHECK(run_pretending({"record", "--forms", "movmatrix|ldmatrix.*x4", "--cases", "2", "--out", directory.path("answers")}, {no_faults})
            .status == 0);
  const Outcome evidence = run_command({"evidence", directory.path("answers")});
  CHECK(evidence.status == 0);
  CHECK(contains(evidence.out, "5 forms, 5 classes, "));
  write_text(directory.path("a.json"), "{}");
  CHECK(contains(run_command({"evidence", directory.path("answers"), directory.path("a.json")}).err, "name only files of one kind"));
}

TEST_CASE("record finds out where a card's wmma.load puts elements", "[tools]") {
  const TemporaryDirectory directory;
  const std::string file = directory.path("card.jsonl.gz");
  const Outcome outcome = run_pretending({"record", "--forms", "wmma.load.*sync", "--cases", "4", "--out", file},
                                         {no_faults, "WARPMAT_PRETEND_TARGET=sm_75", "WARPMAT_PRETEND_LAYOUT=lanes"});
  CHECK(outcome.status == 0);
  CHECK(contains(outcome.out, "the emulator gives other answers"));
  const Outcome evidence = run_command({"evidence", file});
  CHECK(evidence.status == 0);
  CHECK(contains(evidence.out, "| `LD` | 204 | assumed | registers as on sm_90 | contradicted"));
  // Bits 0 and 4 of the lane have changed places. A of f16, C of 32 bits, A of bytes and of 4 bits, B of single bits.
  CHECK(contains(evidence.out, "- k0 | m2 k2 m0 m1 k1 | m3 k3 copy; the emulator has k0 | k1 k2 m0 m1 m2 | m3 k3 copy\n"));
  CHECK(contains(evidence.out, "- - | m2 n2 m0 m1 n1 | n0 m3 n3; the emulator has - | n1 n2 m0 m1 m2 | n0 m3 n3\n"));
  CHECK(contains(evidence.out, "- k0 k1 | m2 k3 m0 m1 k2 | m3; the emulator has k0 k1 | k2 k3 m0 m1 m2 | m3\n"));
  CHECK(contains(evidence.out, "- k0 k1 k2 | m2 k4 m0 m1 k3; the emulator has k0 k1 k2 | k3 k4 m0 m1 m2\n"));
  CHECK(contains(evidence.out, "- k0 k1 k2 k3 k4 | n2 k6 n0 n1 k5; the emulator has k0 k1 k2 k3 k4 | k5 k6 n0 n1 n2\n"));
  CHECK(!contains(evidence.out, "no permutation"));
}

TEST_CASE("record finds a card's layout measured where it is the emulator's", "[tools]") {
  const TemporaryDirectory directory;
  const std::string file = directory.path("card.jsonl.gz");
  CHECK(run_pretending({"record", "--forms", "wmma.load.*sync", "--cases", "4", "--out", file}, {no_faults, "WARPMAT_PRETEND_TARGET=sm_75"})
            .status == 0);
  const Outcome evidence = run_command({"evidence", file});
  CHECK(contains(evidence.out, "| assumed | registers as on sm_90 | measured |"));
  CHECK(!contains(evidence.out, "puts elements"));
}

TEST_CASE("record --approximate writes digests of all operands", "[tools]") {
  const TemporaryDirectory directory;
  const std::string place = directory.path("answers");
  const Outcome recorded = run_pretending({"record", "--approximate", "--forms", "^ex2.approx.ftz.f32", "--out", place},
                                          {no_faults, "WARPMAT_PRETEND_ANSWERS=zeros"});
  CHECK(recorded.status == 0);
  CHECK(contains(recorded.out, "1 instructions, all 2^32 operands of each"));
  CHECK(contains(read_text(place + "/source.txt"), "pretended GPU; sm_90a; "));
  CHECK(read_text(place + "/ex2.approx.ftz.f32.digests").size() == 4 * block_count);
}

}  // namespace
}  // namespace warpmat::record_test
