
#include "gpu/cases/wgmma_cases.h"
#include "gpu/cases/wgmma_tiles.h"
#include "gpu/lab/mutants/mutants.h"
#include "gpu/lab/mutants/refute.h"
#include "gpu/lab/mutants/variant_runner.h"
#include "gpu/recordings/vectors.h"
#include "test.h"

namespace warpmat::wgmma_mutants_test {
namespace {

const WgmmaForm& form_of(std::string_view rest) {
  const WgmmaForm* form = find_wgmma("wgmma.mma_async." + std::string(rest));
  REQUIRE(form != nullptr);
  return *form;
}

const Recording& card() {
  static const Recording recording = read_recording(source_path("tests/vectors/wgmma_sm_90.jsonl.gz"));
  return recording;
}

/// The tiles of all cases that were recorded of a form and class.
std::vector<WgmmaTile> recorded_tiles(const WgmmaForm& form, const Answers& answers) {
  const OperandClass& operand_class = *find_operand_class(answers.operand_class);
  const int variant = answers.variant == class_variant ? static_cast<int>(&operand_class - operand_classes().data()) : answers.variant;
  return wgmma_tiles(form, operand_class, variant, card().provenance.seed, 0, answers.warps);
}

/// Whether some of the recorded cases have other results with the mutant than with the row.
bool refuted(const WgmmaForm& form, const Mutant& mutant, std::map<const Answers*, std::vector<WgmmaTile>>& known) {
  const VariedLowering varied(*form.tile, lowering_of(form), mutant.variant),
      as_it_is(*form.tile, lowering_of(form), parse_variant("table"));
  for (const Answers& answers : card().answers) {
    if (answers.opcode != form.opcode) continue;
    auto& tiles = known[&answers];
    if (tiles.empty()) tiles = recorded_tiles(form, answers);
    for (WgmmaTile& tile : tiles) {
      const std::vector<std::uint32_t> mutated = tile.run([&](const Batch& a) { execute_variant(varied, a); });
      if (mutated != tile.run([&](const Batch& a) { execute_variant(as_it_is, a); })) return true;
    }
  }
  return false;
}

TEST_CASE("recorded answers refute every mutant of the arithmetic of wgmma, turned floors of f16 results among them", "[gpu][wgmma]") {
  std::size_t mutants = 0, floors = 0;
  for (const char* opcode :
       {"sync.aligned.m64n8k16.f16.f16.f16", "sync.aligned.m64n8k16.f32.bf16.bf16", "sync.aligned.m64n8k8.f32.tf32.tf32",
        "sync.aligned.m64n8k32.f32.e4m3.e5m2", "sync.aligned.m64n8k32.f16.e5m2.e4m3", "sp.sync.aligned.m64n8k32.f16.f16.f16"}) {
    const WgmmaForm& form = form_of(opcode);
    std::map<const Answers*, std::vector<WgmmaTile>> known;
    for (const Mutant& mutant : mutants_of(*form.tile, lowering_of(form))) {
      CAPTURE(opcode, mutant.change);
      CHECK((refuted(form, mutant, known) || reason_to_survive(*form.tile, mutant.change)));
      ++mutants;
      floors += mutant.change.find("floor_f16") != std::string::npos;
    }
  }
  CHECK(mutants > 20);
  CHECK(floors > 4);
}

}  // namespace
}  // namespace warpmat::wgmma_mutants_test
