#include "gpu/recordings/vectors.h"

#include <warpmat/machine/threads.h>

#include "gpu/runners/emulator_runner.h"
#include "test.h"

namespace warpmat::vectors_test {
namespace {

const Form& form_of(const char* opcode) {
  const Form* form = find_form(opcode);
  REQUIRE(form != nullptr);
  return *form;
}

const Form& product() {
  return form_of("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32");
}
const Form& store() {
  return form_of("stmatrix.sync.aligned.m8n8.x2.shared.b16");
}

/// The 32-bit words that the form of `answers`, one of the two above, writes.
std::size_t outputs_a_warp(const Answers& answers) {
  return answers.opcode == product().opcode ? 4 * 32 : 2 * 8 * 4;
}

/// What a GPU would record, by the emulator.
Recording recorded(std::initializer_list<const Form*> forms_) {
  EmulatorRunner runner;
  Recording recording;
  recording.provenance = {"a \"card\"", "9.0", "1.2", "none", "sm_90a", "2025-01-31", 0xfedcba9876543210, case_generator_version};
  for (const Form* form : forms_)
    for (const OperandClass& operand_class : operand_classes())
      if (applies(operand_class, *form))
        recording.answers.push_back(record(runner, *form, target("sm_90a"), operand_class, recording.provenance.seed, {40, 16, 2}));
  return recording;
}

std::string what(const std::string& bytes) {
  try {
    decode_recording(bytes);
  } catch (const std::runtime_error& e) {
    return e.what();
  }
  return {};
}

TEST_CASE("a digest is XXH3-128 as xxhsum prints it", "[gpu]") {
  CHECK(digest("") == "99aa06d3014798d86001c324468d497f");
  CHECK(digest("a") == "a96faf705af16834e6c632b61e964e1f");
}

TEST_CASE("recorded answers survive a file", "[gpu]") {
  const Recording recording = recorded({&product(), &store()});
  CHECK(recording.answers.size() > 5);
  CHECK(decode_recording(encode(recording)) == recording);
  CHECK(encode(recording) == encode(recording));
}

TEST_CASE("a file that is cut short or damaged is refused with a reason", "[gpu]") {
  const std::string bytes = encode(recorded({&store()}));
  for (std::size_t size = 0; size < bytes.size(); size += 7) {
    CAPTURE(size);
    CHECK_FALSE(what(bytes.substr(0, size)).empty());
  }
  std::mt19937 random(1);
  for (int i = 0; i < 200; ++i) {
    std::string damaged = bytes;
    const std::size_t at = 10 + random() % (bytes.size() - 10);  // gzip's header has bytes without meaning
    damaged[at] = static_cast<char>(damaged[at] ^ 1 << random() % 8);
    CAPTURE(at);
    CHECK_FALSE(what(damaged).empty());
  }
  CHECK_FALSE(what(bytes + "x").empty());
  CHECK_FALSE(what("plain text").empty());
  CHECK_THROWS_AS(read_recording("/nonexistent/file"), std::runtime_error);
  CHECK_THROWS_AS(read_recording("/"), std::runtime_error);
}

TEST_CASE("wrong numbers in a file are refused with the line", "[gpu]") {
  const Recording good = recorded({&store()});
  const auto refused = [&](auto change, const std::string& reason) {
    Recording bad = good;
    change(bad.answers.front());
    CHECK(what(encode(bad)) == "line 2: " + reason);
  };
  refused([](Answers& a) { a.warps = 0; }, "impossible numbers of warps");
  refused([](Answers& a) { a.block_warps = 0; }, "impossible numbers of warps");
  refused([](Answers& a) { a.warps = std::size_t{1} << 40; }, "impossible numbers of warps");
  refused([](Answers& a) { a.digests.pop_back(); }, "wrong number of digests");
}

TEST_CASE("replay agrees with what was recorded", "[gpu]") {
  EmulatorRunner runner(1024);
  const Recording recording = recorded({&product(), &store()});
  for (const Answers& answers : recording.answers) {
    const Replayed replayed = replay(runner, recording.provenance, answers);
    CAPTURE(answers.opcode, answers.operand_class, replayed.detail);
    CHECK(replayed.outcome == Replayed::Outcome::agrees);
    CHECK(replayed.blocks == 3);
    CHECK(replayed.outputs == 40 * outputs_a_warp(answers));
    CHECK(replay(runner, recording.provenance, answers, 17).blocks == 2);
  }
}

TEST_CASE("replay finds a wrong bit in an example, and one that only a digest holds", "[gpu]") {
  EmulatorRunner runner;
  const Recording recording = recorded({&product()});
  Answers wrong = recording.answers.front();
  wrong.examples[1][33] ^= 0x100;
  Replayed replayed = replay(runner, recording.provenance, wrong);
  CHECK(replayed.outcome == Replayed::Outcome::differs);
  CHECK(replayed.detail.starts_with("warp 1, register word 1, lane 1: recorded 0x"));

  wrong = recording.answers.front();
  wrong.digests[2].back() = wrong.digests[2].back() == '0' ? '1' : '0';
  replayed = replay(runner, recording.provenance, wrong);
  CHECK(replayed.outcome == Replayed::Outcome::differs);
  CHECK(replayed.different_blocks == 1);
  CHECK(replayed.detail == "an output in warps 32 to 39");
}

TEST_CASE("replaying on several threads keeps the order, and what a runner throws", "[gpu]") {
  const Recording recording = recorded({&product(), &store()});
  for (const unsigned threads : {1u, 3u, 20u}) {
    std::atomic<std::size_t> done = 0;
    const auto results = replay_all([] { return std::make_unique<EmulatorRunner>(0, 1); }, recording, threads, 1, [&] { ++done; });
    CHECK(done == recording.answers.size());
    REQUIRE(results.size() == recording.answers.size());
    for (std::size_t i = 0; i < results.size(); ++i) {
      CHECK(results[i].outcome == Replayed::Outcome::agrees);
      CHECK(results[i].outputs == 16 * outputs_a_warp(recording.answers[i]));
    }
  }
  CHECK_THROWS_AS(replay_all([]() -> std::unique_ptr<Runner> { throw std::logic_error("none"); }, recording, 2), std::logic_error);
}

TEST_CASE("replay says what this build does not know", "[gpu]") {
  EmulatorRunner runner;
  const Recording recording = recorded({&store()});
  const auto outcome = [&](auto change) {
    Recording changed = recording;
    change(changed.provenance, changed.answers.front());
    const Replayed replayed = replay(runner, changed.provenance, changed.answers.front());
    CHECK_FALSE(replayed.detail.empty());
    CHECK(replayed.outputs == 0);
    return replayed.outcome;
  };
  CHECK(outcome([](Provenance&, Answers& a) { a.opcode = "mma.of.tomorrow"; }) == Replayed::Outcome::unknown_form);
  CHECK(outcome([](Provenance& p, Answers&) { p.target = "sm_80"; }) == Replayed::Outcome::unknown_form);
  CHECK(outcome([](Provenance& p, Answers&) { p.target = "sm_999"; }) == Replayed::Outcome::unknown_form);
  CHECK(outcome([](Provenance&, Answers& a) { a.operand_class = "tomorrow"; }) == Replayed::Outcome::unknown_class);
  CHECK(outcome([](Provenance& p, Answers&) { ++p.seed; }) == Replayed::Outcome::other_operands);
}

TEST_CASE("the generator still draws what recorded answers were computed from", "[gpu]") {
  // A change of these digests makes every recording useless: raise case_generator_version with it, and record again.
  const auto operands = [](const Form& form, const char* operand_class) {
    EmulatorRunner runner;
    return record(runner, form, target("sm_90a"), *find_operand_class(operand_class), 1, {4, 4, 0}).operands_digest;
  };
  CHECK(operands(product(), "random") == "18e5fc7e48b60ed41552d8b55cc79246");
  CHECK(operands(product(), "cancel") == "677949eb1736f7117656dcc87322e4c3");
  CHECK(operands(store(), "random") == "46adebcae5114f54b8f7e9424ecb9c7e");
}

TEST_CASE("the emulator gives the answers that were recorded from GPUs", "[gpu]") {
  const std::filesystem::path directory = source_path("tests/vectors/sm_90");
  REQUIRE(std::filesystem::is_directory(directory));
  const unsigned threads = machine::usable_cores();
  std::set<std::string> replayed_forms;
  for (const std::filesystem::path& path : recording_files(directory)) {
    const Recording recording = read_recording(path);
    CHECK(recording.provenance.compute_capability == "9.0");
    const auto emulator = [] { return std::make_unique<EmulatorRunner>(0, 1); };
    const std::vector<Replayed> results = replay_all(emulator, recording, threads, case_count(RecordingSize().warps));
    for (std::size_t i = 0; i < results.size(); ++i) {
      CAPTURE(path, recording.answers[i].operand_class, results[i].detail);
      CHECK(results[i].outcome == Replayed::Outcome::agrees);
      replayed_forms.insert(recording.answers[i].opcode);
    }
  }
  for (const Form& form : forms())
    if (!unavailable(form, target("sm_90a")))
      CHECK((replayed_forms.contains(form.opcode) ? "" : "no recorded answers: " + form.opcode) == "");
}

}  // namespace
}  // namespace warpmat::vectors_test
