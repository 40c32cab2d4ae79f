#include "measurement.h"

#include <benchmark/benchmark.h>
#include <fmt/core.h>

#include <algorithm>
#include <deque>
#include <string>
#include <vector>

#include <warpmat/execute/fast/instruction_sets.h>
#include <warpmat/program.h>

#include "eigen_product.h"
#include "kernels.h"
#include "tensor_core.h"
#include "thread_major.h"
#include "warpgroup.h"
#include "workload.h"

namespace warpmat {
namespace {

// ---- Names ------------------------------------------------------------------------------------------------------------------------------

std::string name_of(const Selected& s, const OperandClass& c, std::string_view set) {
  return fmt::format("{}/{}/{}/{}", s.form->opcode, s.target->name, c.name, set);
}
std::string statement_name(std::string_view set) {
  return fmt::format("statement of a program/{}", set);
}
std::string single_name(std::string_view set) {
  return fmt::format("instruction on one warp/{}", set);
}
std::string call_name(const Selected& s, std::string_view set) {
  return fmt::format("{}/{}/one warp a call, thread-major/{}", s.form->opcode, s.target->name, set);
}
std::string row_name(std::string_view title, std::string_view set) {
  return fmt::format("row {}/{}", title, set);
}
std::string product_name(int jobs, std::string_view set) {
  return fmt::format("matrix product with {} jobs/{}", jobs, set);
}
std::string product_alone_name(std::string_view set) {
  return fmt::format("mma of the matrix product/{}", set);
}
std::string warpgroup_name(std::string_view set) {
  return fmt::format("wgmma of a warpgroup/{}", set);
}
std::string warpgroup_products_name(std::string_view set) {
  return fmt::format("mma of that wgmma/{}", set);
}
std::string tensor_core_name(std::string_view set) {
  return fmt::format("tcgen05.mma/{}", set);
}
std::string eigen_name(std::string_view set) {
  return fmt::format("Eigen multiply-add/{}", set);
}

// ---- Timed functions: each counts the instructions or multiply-adds that it executes as iterations

/// All threads call this. No thread executes before the first one has chosen.
void choose(const benchmark::State& state, std::string_view set) {
  if (state.thread_index() == 0) use_instruction_set(set);
}

void time_batch(benchmark::State& state, const Workload& workload, std::string_view set) {
  choose(state, set);
  WarpStates states = workload.states();
  const Batch batch = workload.batch(states);
  while (state.KeepRunningBatch(Workload::warps)) execute(workload.instruction(), batch, Workload::warps);
}

/// The C interface: one warp per call.
void time_calls(benchmark::State& state, const Workload& workload, std::string_view set) {
  choose(state, set);
  ThreadMajorWarps warps(workload);
  while (state.KeepRunningBatch(Workload::warps))
    for (std::size_t i = 0; i < Workload::warps; ++i) warps.execute(i % ThreadMajorWarps::warps);
}

/// The program's first statement again and again.
Program repeated(const Program& program) {
  std::string text = print_declarations(program);
  for (int i = 0; i < program_statements; ++i) text += print(program, program.statements().front()) + "\n";
  return parse(text);
}

void load_first_warp(const Workload& workload, Warp& warp) {
  std::ranges::copy(workload.states().registers_of(0), warp.named_registers().begin());
}

void time_program(benchmark::State& state, const Workload& workload, std::string_view set) {
  choose(state, set);
  const Program program = repeated(workload.program());
  Warp warp(program);
  load_first_warp(workload, warp);
  while (state.KeepRunningBatch(program_statements)) run(warp);
}

void time_single(benchmark::State& state, const Workload& workload, std::string_view set) {
  choose(state, set);
  Warp warp(workload.program());
  load_first_warp(workload, warp);
  const Statement& statement = workload.program().statements().front();
  std::vector<std::vector<std::uint32_t*>> words;
  for (const OperandText& operand : statement.operands()) words.push_back(warp.words(operand));
  Batch batch;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const Operand& operand = workload.instruction().form().operands[i];
    if (operand.written)
      batch.destination = words[i];
    else
      batch.source(operand.name) = words[i];
  }
  while (state.KeepRunningBatch(program_statements))
    for (int i = 0; i < program_statements; ++i) execute(workload.instruction(), batch);
}

void time_row(benchmark::State& state, const ScalarCase& shown, std::string_view set) {
  choose(state, set);
  StatementLoop loop(shown);
  while (state.KeepRunningBatch(StatementLoop::statements * StatementLoop::rounds)) loop.run();
}

void time_product(benchmark::State& state, int jobs, std::string_view set) {
  choose(state, set);
  TiledProduct product;
  while (state.KeepRunning()) product.run(jobs);
}

void time_product_alone(benchmark::State& state, std::string_view set) {
  choose(state, set);
  ProductAlone product;
  while (state.KeepRunningBatch(ProductAlone::instructions)) product.run();
}

void time_warpgroup(benchmark::State& state, void (WarpgroupProduct::*run)(), std::string_view set) {
  choose(state, set);
  WarpgroupProduct product;
  while (state.KeepRunning()) (product.*run)();
}

void time_tensor_core(benchmark::State& state, std::string_view set) {
  choose(state, set);
  TensorCoreProduct product;
  while (state.KeepRunning()) product.run();
}

void time_eigen(benchmark::State& state, Product product) {
  constexpr std::size_t elements = std::size_t{product_size} * product_size;
  const std::vector<float> a(elements, 1.25f), b(elements, 0.75f);
  std::vector<float> c(elements);
  while (state.KeepRunningBatch(benchmark::IterationCount{product_size} * product_size * product_size))
    product(a.data(), b.data(), c.data());
}

Product eigen_product(std::string_view set) {
  return set == "AVX-512" ? eigen_product_avx512 : set == "AVX2" ? eigen_product_avx2 : eigen_product_sse4;
}

// ---- Registering ------------------------------------------------------------------------------------------------------------------------

/// Registers `function` for some numbers of threads.
template <typename Function>
void add(const std::string& name, int repetitions, const std::vector<int>& threads, Function function) {
  constexpr double seconds = 0.004;  // short, so that some repetition falls between two disturbances
  benchmark::internal::Benchmark* const added = benchmark::RegisterBenchmark(name.c_str(), function);
  added->MinTime(seconds)->Repetitions(repetitions)->UseRealTime();
  for (const int count : threads) added->Threads(count);
}

std::vector<int> thread_counts(std::vector<int> counts) {
  std::ranges::sort(counts);
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  return counts;
}

/// `workloads` owns what the benchmarks refer to.
void add_instructions(const MeasurementPlan& plan, std::deque<Workload>& workloads) {
  for (const Selected& selected : plan.selected)
    for (const OperandClass* c : measured_classes()) {
      if (!applies(*c, *selected.form)) continue;
      const Workload& workload = workloads.emplace_back(*selected.form, *selected.target, *c);
      const bool common_case = c == &common_case_class(*selected.form);
      for (const std::string_view set : plan.sets)
        add(name_of(selected, *c, set), plan.repetitions, thread_counts(common_case ? std::vector{1, plan.threads} : std::vector{1}),
            [&workload, set](benchmark::State& state) { time_batch(state, workload, set); });
      if (!common_case) continue;
      for (const std::string_view set : plan.sets)
        add(call_name(selected, set), plan.repetitions, {1},
            [&workload, set](benchmark::State& state) { time_calls(state, workload, set); });
    }
}

void add_program(const MeasurementPlan& plan, std::deque<Workload>& workloads) {
  const Selected f16 = representative_selection().front();
  const Workload& workload = workloads.emplace_back(*f16.form, *f16.target, common_case_class(*f16.form));
  for (const std::string_view set : plan.sets) {
    add(statement_name(set), plan.repetitions, thread_counts({1, 2, plan.threads}),
        [&workload, set](benchmark::State& state) { time_program(state, workload, set); });
    add(single_name(set), plan.repetitions, {1}, [&workload, set](benchmark::State& state) { time_single(state, workload, set); });
  }
}

void add_eigen(const MeasurementPlan& plan) {
  for (const std::string_view set : plan.sets)
    add(eigen_name(set), 3 * plan.repetitions, {1}, [set](benchmark::State& state) { time_eigen(state, eigen_product(set)); });
}

void add_rows(const MeasurementPlan& plan, const std::vector<ScalarCase>& rows) {
  for (const ScalarCase& shown : rows)
    for (const std::string_view set : plan.sets)
      add(row_name(shown.title(), set), plan.repetitions, {1}, [&shown, set](benchmark::State& state) { time_row(state, shown, set); });
}

void add_product(const MeasurementPlan& plan) {
  for (const std::string_view set : plan.sets) {
    for (const int jobs : {1, 2})
      add(product_name(jobs, set), plan.repetitions, {1}, [jobs, set](benchmark::State& state) { time_product(state, jobs, set); });
    add(product_alone_name(set), plan.repetitions, {1}, [set](benchmark::State& state) { time_product_alone(state, set); });
    add(warpgroup_name(set), plan.repetitions, {1}, [set](benchmark::State& state) { time_warpgroup(state, &WarpgroupProduct::run, set); });
    add(warpgroup_products_name(set), plan.repetitions, {1},
        [set](benchmark::State& state) { time_warpgroup(state, &WarpgroupProduct::run_products, set); });
    add(tensor_core_name(set), plan.repetitions, {1}, [set](benchmark::State& state) { time_tensor_core(state, set); });
  }
}

// ---- Running ----------------------------------------------------------------------------------------------------------------------------

class Collector : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }

  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs)
      if (run.run_type == Run::RT_Iteration) times.add(run.run_name.function_name, static_cast<int>(run.threads), ns_of(run));
  }

  Times times;

 private:
  static double ns_of(const Run& run) {
#ifdef WARPMAT_TIME_IS_PER_THREAD
    return run.GetAdjustedRealTime() / static_cast<double>(run.threads);
#else
    return run.GetAdjustedRealTime();
#endif
  }
};

void initialize(const MeasurementPlan& plan) {
  static std::vector<std::string> arguments;  // Google Benchmark keeps a pointer to the first
  arguments = {"warpmat_bench", "--benchmark_enable_random_interleaving=true"};
  if (!plan.json.empty()) arguments.insert(arguments.end(), {"--benchmark_out=" + plan.json, "--benchmark_out_format=json"});
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  int count = static_cast<int>(pointers.size());
  benchmark::Initialize(&count, pointers.data());
}

}  // namespace

std::vector<const OperandClass*> measured_classes() {
  return {find_operand_class("close"), find_operand_class("finite"), find_operand_class("random")};
}

const OperandClass& common_case_class(const Form& form) {
  const OperandClass& close = *find_operand_class("close");
  return applies(close, form) ? close : *find_operand_class("random");
}

double multiply_adds(const Form& form) {
  if (!multiplies(form.mnemonic)) return 0;
  return double(form.shape.m) * form.shape.n * form.stored_k() * form.operand(OperandName::d).fragment.matrices();
}

void Times::add(const std::string& name, int threads, double ns) {
  const auto [place, added] = ns_.try_emplace({name, threads}, ns);
  place->second = std::min(place->second, ns);
}

double Times::instruction(const Selected& selected, const OperandClass& operand_class, std::string_view set, int threads) const {
  return at(name_of(selected, operand_class, set), threads);
}
double Times::statement(std::string_view set, int threads) const {
  return at(statement_name(set), threads);
}
double Times::single(std::string_view set) const {
  return at(single_name(set), 1);
}
double Times::call(const Selected& selected, std::string_view set) const {
  return at(call_name(selected, set), 1);
}
double Times::eigen(std::string_view set) const {
  return at(eigen_name(set), 1);
}

double Times::row(std::string_view opcode, std::string_view set) const {
  return at(row_name(opcode, set), 1);
}
double Times::product(int jobs, std::string_view set) const {
  return at(product_name(jobs, set), 1);
}
double Times::product_alone(std::string_view set) const {
  return TiledProduct::products * at(product_alone_name(set), 1);
}

double Times::warpgroup(std::string_view set) const {
  return at(warpgroup_name(set), 1);
}
double Times::warpgroup_products(std::string_view set) const {
  return at(warpgroup_products_name(set), 1);
}

double Times::tensor_core(std::string_view set) const {
  return at(tensor_core_name(set), 1);
}

Times measure(const MeasurementPlan& plan) {
  initialize(plan);
  std::deque<Workload> workloads;
  const std::vector<ScalarCase> rows = plan.rows ? scalar_rows() : std::vector<ScalarCase>();
  if (plan.instructions) {
    add_instructions(plan, workloads);
    add_program(plan, workloads);
    add_eigen(plan);
  }
  add_rows(plan, rows);
  if (plan.product) add_product(plan);
  Collector collector;
  if (plan.product) collector.times.memory_beyond_buffers = TiledProduct().memory_of_run(2);
  for (const ScalarCase& shown : rows) collector.times.row_titles.push_back(shown.title());
  benchmark::RunSpecifiedBenchmarks(&collector);
  benchmark::ClearRegisteredBenchmarks();
  use_best_instruction_set();
  return collector.times;
}

}  // namespace warpmat
