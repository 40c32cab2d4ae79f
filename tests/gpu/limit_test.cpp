#include "gpu/recordings/limit.h"

#include "gpu/runners/emulator_runner.h"
#include "test.h"

namespace warpmat::limit_test {
namespace {

constexpr const char* opcodes[] = {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32",
                                   "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32"};

/// The emulator with a wrong bit in warps 11 and 12.
class FaultyRunner : public Runner {
 public:
  void run(const Program& program, WarpStates& states) override {
    emulator_.run(program, states);
    for (std::size_t warp = 11; warp < std::min<std::size_t>(13, states.warps); ++warp) states.registers_of(warp).front()[3] ^= 4;
  }
  std::uint32_t shared_base() const override { return emulator_.shared_base(); }
  std::string description() const override { return "faulty emulator"; }

 private:
  EmulatorRunner emulator_;
};

/// Of the runner's answers in two classes of three forms; the last form by a faulty runner.
Recording recorded(std::size_t examples) {
  EmulatorRunner emulator;
  FaultyRunner faulty;
  const CaseRunner expected(emulator);
  Recording recording;
  recording.provenance = {"a card", "9.0", "1", "2", "sm_90a", "2026-01-31", 5, case_generator_version, {}, 0, {}, true};
  for (const char* opcode : opcodes)
    for (const char* operand_class : {"random", "finite"}) {
      Runner& runner = opcode == opcodes[2] ? static_cast<Runner&>(faulty) : emulator;
      recording.answers.push_back(record(runner, *find_form(opcode), target("sm_90a"), *find_operand_class(operand_class), 5,
                                         {16, 8, examples}, class_variant, &expected));
    }
  return recording;
}

std::size_t examples_of(const Recording& recording) {
  std::size_t count = 0;
  for (const Answers& answers : recording.answers) count += answers.examples.size();
  return count;
}

TEST_CASE("examples are the warps that contradict the emulator, or else the first", "[gpu]") {
  const Recording recording = recorded(3);
  for (const Answers& answers : recording.answers) {
    CAPTURE(answers.opcode);
    const bool faulty = answers.opcode == opcodes[2];
    CHECK(answers.example_warps == (faulty ? std::vector<std::size_t>{11, 12} : std::vector<std::size_t>{}));
    CHECK(answers.examples.size() == (faulty ? 2 : 3));
  }
  CHECK(decode_recording(encode(recording)) == recording);
  EmulatorRunner emulator;
  const Replayed replayed = replay(emulator, recording.provenance, recording.answers.back());
  CHECK(replayed.outcome == Replayed::Outcome::differs);
  CHECK(replayed.detail.starts_with("warp 11, register word 0, lane 3: recorded 0x"));
}

TEST_CASE("a recording keeps its limit by its examples, those that contradict last", "[gpu]") {
  const Recording whole = recorded(2);
  const std::size_t size = encode(whole).size();
  Recording same = whole;
  CHECK(limit_size(same, size) == 0);
  CHECK(same == whole);
  std::size_t left = examples_of(whole);
  for (std::size_t limit = size; limit > 1500; limit -= 500) {
    Recording some = whole;
    const std::size_t dropped = limit_size(some, limit);
    CAPTURE(limit, dropped);
    CHECK(encode(some).size() <= limit);
    CHECK(dropped + examples_of(some) == examples_of(whole));
    CHECK(examples_of(some) <= left);
    left = examples_of(some);
    REQUIRE(some.answers.size() == whole.answers.size());
    std::size_t contradicting = 0, others = 0;
    for (std::size_t i = 0; i < some.answers.size(); ++i) {
      CHECK(some.answers[i].digests == whole.answers[i].digests);
      CHECK(std::equal(some.answers[i].examples.begin(), some.answers[i].examples.end(), whole.answers[i].examples.begin()));
      (some.answers[i].opcode == opcodes[2] ? contradicting : others) += some.answers[i].examples.size();
    }
    CHECK((others == 0 || contradicting == 4));
    CHECK(decode_recording(encode(some)) == some);
  }
  CHECK(left < 4);
  Recording none = whole;
  CHECK_THROWS_WITH(limit_size(none, 100),
                    Catch::Matchers::StartsWith("the limit of 100 bytes is too small: without any example the file has "));
}

}  // namespace
}  // namespace warpmat::limit_test
