#include "test.h"

#include <warpmat/execute/fast/instruction_sets.h>

#include "compressed_table.h"
#include "gpu/compare/scalar_sweep.h"

namespace warpmat::recording_test {
namespace {

/// tests/vectors/scalar_sm_90.tsv.gz: the digests of an H200's answers, by the case's title. tests/vectors/README.md describes the file.
std::map<std::string, std::string> recorded_digests() {
  std::map<std::string, std::string> digests;
  for (const std::string& line : read_compressed_lines(source_path("tests/vectors/scalar_sm_90.tsv.gz"))) {
    const std::size_t tabulator = line.find('\t');
    if (!line.starts_with('#') && tabulator != std::string::npos) digests[line.substr(0, tabulator)] = line.substr(tabulator + 1);
  }
  return digests;
}

struct BestAgain {
  ~BestAgain() { use_best_instruction_set(); }
};

TEST_CASE("every scalar instruction of sm_90 gives what an H200 gave, with the kernels of every instruction set", "[scalar][vectors]") {
  const BestAgain best_again;
  const std::map<std::string, std::string> recorded = recorded_digests();
  for (const std::string_view set : instruction_sets()) {
    use_instruction_set(set);
    const std::vector<ScalarCase> cases = scalar_cases(target("sm_90a"), {9, 0});
    const std::vector<std::uint64_t> digests = scalar_digests(cases);
    REQUIRE(cases.size() == recorded.size());
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < cases.size(); ++i) {
      const auto found = recorded.find(cases[i].title());
      if (found != recorded.end() && found->second == fmt::format("{:016x}", digests[i])) continue;
      if (++wrong <= 20) FAIL_CHECK(set << ": " << cases[i].title() << (found == recorded.end() ? " has no recorded answer" : " differs"));
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("an instruction set has kernels of its own", "[scalar]") {
  const BestAgain best_again;
  std::set<scalar::Function> kernels;
  for (const std::string_view set : instruction_sets()) {
    use_instruction_set(set);
    kernels.insert(scalar::find_kernel("add.b32"));
  }
  CHECK(kernels.size() == instruction_sets().size());
}

TEST_CASE("the sweep finds a wrong bit, its element and its operands", "[scalar]") {
  /// This library with bit 3 of element 77 of every first result wrong.
  class WrongGpu : public ScalarGpu {
   public:
    void use(const ScalarOperands& operands) override { operands_ = &operands; }
    void load(std::span<const ScalarCase> cases) override {
      for (const ScalarCase& c : cases)
        if (c.opcode == "neg.s32") throw std::runtime_error("not taken");
    }
    void run(std::size_t, const ScalarCase& shown, ScalarResults& results) override {
      run_scalar(shown, *operands_, results);
      results.narrow[0][77] ^= 8;
    }

   private:
    const ScalarOperands* operands_ = nullptr;
  };

  ScalarSweep sweep;
  for (const ScalarCase& c : scalar_cases(target("sm_90a"), {9, 0}))
    if (c.opcode == "add.s32" || c.opcode == "neg.s32") sweep.cases.push_back(c);
  REQUIRE(sweep.cases.size() == 2);
  sweep.count = 256;
  const std::vector<ScalarFinding> findings = run_scalar_sweep(sweep, [] { return std::make_unique<WrongGpu>(); });
  REQUIRE(findings.size() == 2 * scalar_classes);
  const ScalarFinding& sum = findings[0];
  CHECK(sum.title == "add.s32");
  CHECK(sum.outputs == 256);
  CHECK(sum.mismatches == 1);
  REQUIRE(sum.examples.size() == 1);
  CHECK(sum.examples[0].element == 77);
  CHECK((sum.examples[0].expected ^ sum.examples[0].found) == 8);
  CHECK(sum.examples[0].expected == ((sum.examples[0].sources[0] + sum.examples[0].sources[1]) & 0xffffffff));
  CHECK(findings[scalar_classes].error == "not taken");
}

}  // namespace
}  // namespace warpmat::recording_test
