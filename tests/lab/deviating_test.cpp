// The deviating reference without deviations is the reference, and each deviation is found by its name and changes something.

#include "gpu/lab/rules/deviating.h"

#include "gpu/cases/cases.h"
#include "gpu/compare/sweep.h"
#include "gpu/lab/mutants/mutants.h"
#include "gpu/lab/mutants/variant_runner.h"
#include "gpu/runners/emulator_runner.h"
#include "gpu/runners/form_runner.h"
#include "test.h"

namespace warpmat::deviating_test {
namespace {

TEST_CASE("deviations stand in the order of their enumeration and are found by name", "[deviation]") {
  std::size_t next = 0;
  for (const DeviationRow& row : deviation_rows()) {
    CAPTURE(row.name);
    CHECK(static_cast<std::size_t>(row.deviation) == next++);
    CHECK(find_deviation(row.name) == &row);
    CHECK(name(row.deviation) == row.name);
    CHECK_FALSE(row.summary.empty());
  }
  CHECK(next < 64);  // Deviations has a bit for each
  CHECK(find_deviation("nothing") == nullptr);
}

/// Executes by execute_deviating although there is nothing to deviate in.
class PlainDeviatingRunner : public Runner {
 public:
  void run(const Program& program, WarpStates& states) override {
    FormRunner([&](const Form& form, const Batch& batch) {
      execute_deviating(form, *find_lowering(form, program.target()->hardware), {}, batch);
    }).run(program, states);
  }
  std::uint32_t shared_base() const override { return 0; }
  std::string description() const override { return "deviating reference"; }
};

bool deviations_are_known(const Form& form) {
  return form.mnemonic == Mnemonic::mma && (form.scale_vector == 0 || form.kind != Kind::mxf8f6f4);
}

/// Words that differ from the emulator's in a few cases of every class.
std::size_t mismatches(const Form& form, const Target& target, Runner& device) {
  EmulatorRunner emulator(0, 1);
  std::size_t count = 0;
  SweepObserver observer;
  observer.row = [&](const SweepRow& row) { count += row.mismatches; };
  sweep(emulator, device, {{form}, &target, 2, 5}, observer);
  return count;
}

TEST_CASE("without deviations the deviating reference gives the emulator's bits", "[deviation]") {
  PlainDeviatingRunner device;
  for (const char* name : {"sm_70", "sm_89", "sm_90a", "sm_120a"})
    for (const Form* form : forms_of(target(name))) {
      if (!deviations_are_known(*form)) continue;
      CAPTURE(name, form->opcode);
      CHECK(mismatches(*form, target(name), device) == 0);
    }
}

}  // namespace
}  // namespace warpmat::deviating_test
