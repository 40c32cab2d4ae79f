#include "gpu/compare/sweep.h"

#include "gpu/cases/cases.h"
#include "gpu/runners/emulator_runner.h"
#include "test.h"

namespace warpmat::sweep_test {
namespace {

/// The emulator with a fault: `damage` changes what it ends with.
class FaultyRunner : public Runner {
 public:
  explicit FaultyRunner(std::function<void(const Program&, WarpStates&)> damage) : damage_(std::move(damage)) {}
  void run(const Program& program, WarpStates& states) override {
    emulator_.run(program, states);
    damage_(program, states);
  }
  std::uint32_t shared_base() const override { return emulator_.shared_base(); }
  std::string description() const override { return "faulty emulator"; }

 private:
  EmulatorRunner emulator_{1024};
  std::function<void(const Program&, WarpStates&)> damage_;
};

SweepPlan plan_of(const std::vector<const Form*>& forms, std::size_t cases) {
  SweepPlan plan{{}, &target("sm_90a"), cases, 3};
  for (const Form* form : forms) plan.forms.emplace_back(*form);
  return plan;
}

const Form& product() {
  return *find_form("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32");
}

struct Seen {
  std::vector<SweepRow> rows;
  std::vector<std::size_t> mismatched_cases;
  std::vector<std::string> mismatched_forms;
  std::size_t advanced = 0;
};

Seen observe(Runner& device, const SweepPlan& plan) {
  EmulatorRunner reference(1024);
  Seen seen;
  SweepObserver observer;
  observer.advanced = [&](std::size_t cases) { seen.advanced += cases; };
  observer.row = [&](const SweepRow& row) { seen.rows.push_back(row); };
  observer.mismatch = [&](const SweepMismatch& m) {
    CHECK(m.initial.warps == 1);
    CHECK(m.comparison.mismatches > 0);
    seen.mismatched_cases.push_back(m.case_number);
    seen.mismatched_forms.push_back(m.row.form.opcode());
  };
  sweep(reference, device, plan, observer);
  return seen;
}

TEST_CASE("a sweep of the emulator against itself compares every form and finds nothing", "[gpu]") {
  EmulatorRunner device(1024);
  const SweepPlan plan = plan_of(forms_of(target("sm_90a")), 4);
  const Seen seen = observe(device, plan);
  REQUIRE(seen.rows.size() == rows_of(plan).size());
  CHECK(seen.advanced == 4 * seen.rows.size());
  for (const SweepRow& row : seen.rows) {
    CAPTURE(row.form.opcode(), row.operand_class->name);
    CHECK(row.cases == 4);
    CHECK(row.outputs >= 4 * 32);
    CHECK(row.mismatches == 0);
  }
  CHECK(seen.mismatched_cases.empty());
}

TEST_CASE("a sweep reports one wrong bit in one warp of many batches", "[gpu]") {
  FaultyRunner device([](const Program& program, WarpStates& states) {
    const auto d2 = static_cast<std::size_t>(program.find_register("%d2")->slot);
    if (states.warps < 4096) states.registers_of(states.warps - 1)[d2][17] ^= 1;  // the last batch is the short one
  });
  const SweepPlan plan = plan_of({&product()}, 5000);
  const Seen seen = observe(device, plan);
  REQUIRE(!seen.rows.empty());
  for (const SweepRow& row : seen.rows) {
    CHECK(row.cases == 5000);
    CHECK(row.outputs == 5000 * 4 * 32);
    CHECK(row.mismatches == 1);
  }
  CHECK(seen.mismatched_cases == std::vector<std::size_t>(seen.rows.size(), 4999));
}

TEST_CASE("a sweep notices a changed source register and a changed neighbour in memory", "[gpu]") {
  FaultyRunner source([](const Program& program, WarpStates& states) {
    states.registers_of(0)[static_cast<std::size_t>(program.find_register("%a0")->slot)][5] ^= 0x80000000;
  });
  for (const SweepRow& row : observe(source, plan_of({&product()}, 2)).rows) CHECK(row.mismatches == 1);

  const Form& load = *find_form("ldmatrix.sync.aligned.m8n8.x1.shared.b16");
  FaultyRunner memory([](const Program&, WarpStates& states) { states.shared_of(1).back() ^= 1; });
  const Seen seen = observe(memory, plan_of({&load}, 2));
  REQUIRE(seen.rows.size() == 1);
  CHECK(seen.rows[0].mismatches == 1);
  CHECK(seen.mismatched_cases == std::vector<std::size_t>{1});
}

TEST_CASE("a part of a sweep runs the cases from its first one on", "[gpu]") {
  const Program program = program_for(product(), target("sm_90a"));
  SweepPlan plan = plan_of({&product()}, 3);
  for (const std::size_t first : {0u, 3u, 5000u}) {
    plan.first_case = first;
    FaultyRunner wrong_in_the_last([](const Program&, WarpStates& states) { states.registers_of(states.warps - 1)[0][0] ^= 1; });
    const Seen seen = observe(wrong_in_the_last, plan);
    for (const std::size_t number : seen.mismatched_cases) CHECK(number == first + 2);
    CHECK(seen.mismatched_cases.size() == rows_of(plan).size());
  }
  plan.first_case = 7;
  bool as_made = false;
  const WarpStates made = make_case(program, product(), operand_classes().front(), plan.seed, 7, 3, 1024);
  FaultyRunner looks([&](const Program& run, WarpStates& states) {
    const auto a0 = static_cast<std::size_t>(run.find_register("%a0")->slot);
    bool same = states.warps == made.warps;
    for (std::size_t warp = 0; same && warp < made.warps; ++warp) same = states.registers_of(warp)[a0] == made.registers_of(warp)[a0];
    if (same) as_made = true;
  });
  observe(looks, plan);
  CHECK(as_made);
}

TEST_CASE("a sweep that is stopped reports what it has compared, and begins nothing more", "[gpu]") {
  EmulatorRunner reference(1024), device(1024);
  const SweepPlan plan = plan_of({&product()}, 40'000);
  std::size_t advanced = 0, reported = 0;
  std::vector<SweepRow> rows;
  SweepObserver observer;
  observer.advanced = [&](std::size_t cases) { advanced += cases; };
  observer.row = [&](const SweepRow& row) { rows.push_back(row), reported += row.cases; };
  observer.stop = [&] { return advanced > 0; };
  sweep(reference, device, plan, observer);
  CHECK(advanced > 0);
  CHECK(advanced < rows_of(plan).size() * plan.cases);
  CHECK(reported == advanced);
  for (const SweepRow& row : rows) CHECK(row.outputs == row.cases * 4 * 32);
}

TEST_CASE("a runner that fails ends the sweep, and the rows before stand", "[gpu]") {
  const Form& load = *find_form("ldmatrix.sync.aligned.m8n8.x1.shared.b16");
  FaultyRunner device([](const Program& program, WarpStates&) {
    if (program.matrix_statements().front()->matrix()->form().mnemonic != Mnemonic::ldmatrix) throw std::runtime_error("stopped");
  });
  EmulatorRunner reference(1024);
  std::vector<SweepRow> rows;
  SweepObserver observer;
  observer.row = [&](const SweepRow& row) { rows.push_back(row); };
  CHECK_THROWS_WITH(sweep(reference, device, plan_of({&load, &product()}, 8), observer), "stopped");
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].form.warp() == &load);
}

}  // namespace
}  // namespace warpmat::sweep_test
