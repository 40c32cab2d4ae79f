#include "gpu/cases/wgmma_cases.h"

#include "gpu/cases/random_descriptor.h"
#include "gpu/cases/tested_form.h"
#include "gpu/cases/wgmma_tiles.h"
#include "gpu/compare/sweep.h"
#include "gpu/recordings/vectors.h"
#include "gpu/runners/emulator_runner.h"
#include "test.h"

namespace warpmat::wgmma_cases_test {
namespace {

const WgmmaForm& form_of(std::string_view rest) {
  const WgmmaForm* form = find_wgmma("wgmma.mma_async." + std::string(rest));
  REQUIRE(form != nullptr);
  return *form;
}

const Target& hopper() {
  return target("sm_90a");
}

const Recording& card() {
  static const Recording recording = read_recording(source_path("tests/vectors/wgmma_sm_90.jsonl.gz"));
  return recording;
}

/// The emulator with one bit of D wrong in a block.
class FaultyKernels : public KernelRunner {
 public:
  explicit FaultyKernels(std::size_t word) : word_(word) {}
  KernelAnswer run(const KernelLaunch& launch) override {
    KernelAnswer answer = emulator_.run(launch);
    if (4 * word_ < answer.buffers.front().size()) answer.buffers.front()[4 * word_] ^= 1;
    return answer;
  }

 private:
  std::size_t word_;
  EmulatorKernelRunner emulator_{hopper()};
};

TEST_CASE("random descriptors name matrices inside of the memory, compact ones and others", "[gpu][wgmma]") {
  constexpr std::uint32_t bytes = 32768;
  std::size_t overlapping = 0, compact = 0;
  for (const Major major : {Major::k, Major::mn})
    for (std::uint64_t number = 0; number < 400; ++number) {
      Random random(number);
      const MatrixDescriptor d = MatrixDescriptor::decode(random_descriptor({major, 64, 64}, bytes, random));
      std::set<std::uint32_t> chunks;
      for (std::uint32_t line = 0; line < 64; ++line)
        for (std::uint32_t byte = 0; byte < 64; byte += 16) chunks.insert(d.address(major, line, byte));
      REQUIRE(*chunks.rbegin() + 16 <= bytes);
      overlapping += chunks.size() < 64 * 4;
      compact += d.start() % 1024 == 0 && chunks.size() == 64 * 4 && *chunks.rbegin() - *chunks.begin() == 64 * 64 - 16;
    }
  CHECK(overlapping > 20);
  CHECK(compact > 100);
}

TEST_CASE("variants have A in registers and in memory, both majors and every selector", "[gpu][wgmma]") {
  const auto count = [](const WgmmaForm& form) {
    std::set<std::array<int, 4>> seen;
    for (int number = 0; number < variants(form); ++number) {
      const WgmmaVariant v = wgmma_variant(form, number);
      seen.insert({v.a_in_registers, v.immediates.major_a == Major::mn, v.immediates.major_b == Major::mn, v.immediates.selector});
    }
    CHECK(seen.size() == static_cast<std::size_t>(variants(form)));
    return seen.size();
  };
  CHECK(count(form_of("sync.aligned.m64n8k16.f32.f16.f16")) == 6);
  CHECK(count(form_of("sp.sync.aligned.m64n8k32.f32.bf16.bf16")) == 12);
  CHECK(count(form_of("sync.aligned.m64n8k32.s32.s8.u8")) == 2);
  CHECK(count(form_of("sync.aligned.m64n8k256.s32.b1.b1.and.popc")) == 2);
}

TEST_CASE("cases of a range of products are shared by its parts", "[gpu][wgmma]") {
  const TestedForm wide(form_of("sync.aligned.m64n256k16.f32.f16.f16")), narrow(form_of("sync.aligned.m64n8k16.f32.f16.f16"));
  CHECK(wide.cases_of({0, 1024}) == Shard::Range{0, 8});
  CHECK(narrow.cases_of({0, 1024}) == Shard::Range{0, 256});
  for (const std::size_t count : {1u, 3u, 7u, 16u}) {
    std::uint64_t next = 0;
    for (std::size_t number = 1; number <= count; ++number) {
      const Shard::Range part = wide.cases_of(Shard{number, count}.of(1000));
      CHECK(part.first == next);
      next += part.count;
    }
    CHECK(next == wide.cases_of({0, 1000}).count);
  }
}

TEST_CASE("a sweep of wgmma compares every word, and names the element that is wrong", "[gpu][wgmma]") {
  EmulatorRunner programs;
  EmulatorKernelRunner kernels(hopper());
  FaultyKernels faulty(2 * 128 + 33);  // register 2 of warp 1, lane 1
  const SweepPlan plan{{form_of("sync.aligned.m64n16k16.f32.f16.f16"), form_of("sp.sync.aligned.m64n8k64.s32.s8.s8")}, &hopper(), 64, 1};
  for (const bool wrong : {false, true}) {
    std::vector<SweepRow> rows;
    std::vector<std::string> places;
    SweepObserver observer;
    observer.row = [&](const SweepRow& row) { rows.push_back(row); };
    observer.warpgroup_mismatch = [&](const WarpgroupMismatch& m) {
      const auto at = std::ranges::mismatch(m.expected, m.found).in1 - m.expected.begin();
      places.push_back(answer_place(*m.row.form.warpgroup(), static_cast<std::size_t>(at)));
    };
    sweep({programs, &kernels}, {programs, wrong ? static_cast<KernelRunner*>(&faulty) : &kernels}, plan, observer);
    REQUIRE(rows.size() == rows_of(plan).size());
    for (const SweepRow& row : rows) {
      CHECK(row.cases == (row.form == plan.forms.front() ? 8 : 16));
      CHECK(row.outputs == row.cases * answer_words(*row.form.warpgroup()));
      CHECK((row.mismatches != 0) == wrong);
    }
    CHECK(places == std::vector<std::string>(wrong ? rows.size() : 0, "row 24, column 2 (warp 1, lane 1, register 2)"));
  }
}

// Every eighth class, cyclically; `warpmat replay tests/vectors/wgmma_sm_90.jsonl.gz` compares all.
TEST_CASE("the emulator gives the answers of wgmma that were recorded from an H200", "[gpu][wgmma]") {
  Recording some{card().provenance, {}};
  for (std::size_t i = 0; i < card().answers.size(); i += 8) some.answers.push_back(card().answers[i]);
  EmulatorKernelRunner kernels(hopper());
  const auto programs = [] { return std::make_unique<EmulatorRunner>(0, 1); };
  const std::vector<Replayed> results = replay_all(
      programs, some, 2, ~std::size_t{0}, [] {}, &kernels);
  std::set<const Lowering*> lowerings;
  for (std::size_t i = 0; i < results.size(); ++i) {
    CAPTURE(some.answers[i].opcode, some.answers[i].operand_class, results[i].detail);
    CHECK(results[i].outcome == Replayed::Outcome::agrees);
    lowerings.insert(&lowering_of(*find_wgmma(some.answers[i].opcode)));
  }
  // A row is labelled `measured` if, and only if, answers are here.
  for (const WgmmaForm& form : wgmma_forms())
    CHECK((lowering_of(form).evidence == Evidence::measured) == lowerings.contains(&lowering_of(form)));
}

}  // namespace
}  // namespace warpmat::wgmma_cases_test
