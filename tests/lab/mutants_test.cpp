#include <warpmat/machine/threads.h>

#include "gpu/cases/wgmma_cases.h"
#include "gpu/cases/wgmma_tiles.h"
#include "gpu/compare/sweep.h"
#include "gpu/lab/mutants/exchange.h"
#include "gpu/lab/mutants/mutants.h"
#include "gpu/lab/mutants/refute.h"
#include "gpu/lab/mutants/variant_runner.h"
#include "gpu/recordings/vectors.h"
#include "gpu/runners/emulator_runner.h"
#include "test.h"

namespace warpmat::mutants_test {
namespace {

std::set<std::string> changes(const char* opcode, Hardware hardware) {
  const Form& form = *find_form(opcode);
  std::set<std::string> names;
  for (const Mutant& mutant : mutants_of(form, *find_lowering(form, hardware))) names.insert(mutant.change);
  return names;
}

std::vector<Recording> recordings() {
  std::vector<Recording> all;
  for (const std::filesystem::path& path : recording_files(source_path("tests/vectors/sm_90"))) all.push_back(read_recording(path));
  return all;
}

TEST_CASE("every deviation, every constant and every floor has mutants of some form", "[mutants]") {
  std::set<std::string> names;
  for (const Target& target : targets())
    for (const Form* form : forms_of(target))
      for (const Mutant& mutant : mutants_of(*form, *find_lowering(*form, target.hardware))) names.insert(mutant.change);
  for (const DeviationRow& row : deviation_rows()) CHECK(names.contains(std::string(row.name)));
  for (const char* change :
       {"fraction_bits-2", "fraction_bits-1", "fraction_bits+1", "fraction_bits+2", "result_fraction_bits-1", "step halved", "step doubled",
        "step -1 element", "step +2 elements", "floor_f32-1", "floor_f32+2", "floor_f32 none", "floor_f16+1", "floor_f16 none"}) {
    CAPTURE(change);
    CHECK(names.contains(change));
  }
}

TEST_CASE("mutants concern the forms that they can change", "[mutants]") {
  const auto f16 = changes("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", Hardware::sm_90);
  CHECK(f16.contains("floor_f16 none"));
  CHECK_FALSE(f16.contains("floor_f32 none"));
  CHECK_FALSE(f16.contains("step doubled"));  // one step has all of K
  CHECK(f16.contains("result_toward_zero"));
  const auto f32 = changes("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", Hardware::sm_90);
  CHECK_FALSE(f32.contains("floor_f32 none"));  // products of f16 are never so small
  CHECK(changes("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", Hardware::sm_80).contains("step doubled"));
  CHECK(changes("movmatrix.sync.aligned.m8n8.trans.b16", Hardware::sm_90).empty());
}

TEST_CASE("layout mutants put every operand's elements elsewhere", "[mutants]") {
  const Form& product = *find_form("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32");
  CHECK(exchanges_of(product).size() == 28 + 21 + 21 + 21);  // pairs of the 8 index bits of A, 7 of B, C and D
  const Form changed = exchanged(product, {OperandName::a, 0, 6});
  CHECK(text(product, {OperandName::a, 0, 6}) == "layout of a: element 0 and register 0");
  const Fragment &before = product.operand(OperandName::a).fragment, &after = changed.operand(OperandName::a).fragment;
  CHECK(before.element({0, 0, 16}) == Element{0, 1});
  CHECK(after.element({0, 0, 16}) == Element{8, 0});
  CHECK(after.element({0, 1, 0}) == Element{0, 1});
  CHECK(after.element({7, 2, 0}) == before.element({7, 2, 0}));
  CHECK(changed.operand(OperandName::b).fragment == product.operand(OperandName::b).fragment);
  for (const Form& form : forms())
    for (const Exchange& exchange : exchanges_of(form)) {
      const Form other = exchanged(form, exchange);
      CHECK_FALSE(other.operand(exchange.operand).fragment == form.operand(exchange.operand).fragment);
    }
}

TEST_CASE("recorded answers kill every mutant but those with a known reason", "[mutants]") {
  const std::vector<Verdict> verdicts = refute_mutants(recordings(), machine::usable_cores());
  CHECK(verdicts.size() > 6000);
  for (const Verdict& verdict : verdicts) {
    CAPTURE(verdict.form->opcode, verdict.change);
    CHECK(verdict.killed == !reason_to_survive(*verdict.form, verdict.change));
  }
}

TEST_CASE("answers that are not the emulator's say nothing about mutants", "[mutants]") {
  Recording recording = recordings().at(40);
  recording.answers.front().digests.front().back() ^= 1;
  CHECK_THROWS_AS(refute_mutants(recording), std::runtime_error);
}

TEST_CASE("a sweep reports mutants of the arithmetic", "[mutants][faults]") {
  for (const auto& [opcode, target_name] : {std::pair("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "sm_80"),
                                            std::pair("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", "sm_90a")}) {
    const Form& form = *find_form(opcode);
    const Lowering& row = *find_lowering(form, target(target_name).hardware);
    for (const Mutant& mutant : mutants_of(form, row)) {
      CAPTURE(opcode, target_name, mutant.change);
      const VariedLowering varied(form, row, mutant.variant);
      VariantRunner device(varied);
      EmulatorRunner emulator(0, 1);
      std::size_t mismatches = 0;
      SweepObserver observer;
      observer.row = [&](const SweepRow& swept) { mismatches += swept.mismatches; };
      sweep(emulator, device, {{form}, &target(target_name), 48, 1}, observer);
      CHECK(mismatches > 0);
    }
  }
}

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
}  // namespace warpmat::mutants_test
