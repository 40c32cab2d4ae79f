#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>
#include <warpmat/execute/fast/instruction_sets.h>
#include <warpmat/explain/table.h>
#include <warpmat/files/output_file.h>
#include <warpmat/launch/check_list.h>
#include <warpmat/machine/threads.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "commands.h"
#include "compared_archive.h"
#include "diff_launch.h"
#include "diff_scalar.h"
#include "gpu/cases/cases.h"
#include "gpu/cases/wgmma_cases.h"
#include "gpu/compare/compare.h"
#include "gpu/compare/random_states.h"
#include "gpu/compare/self_contained.h"
#include "gpu/compare/sweep.h"
#include "gpu/cuda/gpu_runner.h"
#include "gpu/cuda/kernel_gpu.h"
#include "gpu/runners/emulator_runner.h"
#include "gpu/runners/one_warp.h"
#include "recorded_program.h"
#include "tools/command_line/handed_commands.h"
#include "tools/gpu/report/form_selection.h"
#include "tools/gpu/report/interruption.h"
#include "tools/gpu/report/mismatch_text.h"
#include "tools/gpu/report/result_options.h"
#include "tools/gpu/report/run_result.h"
#include "tools/report/launch_files.h"
#include "tools/report/progress.h"
#include "tools/report/ptx_file.h"
#include "tools/report/supervision.h"
#include "tools/report/warp_place.h"

namespace warpmat {
namespace {

struct DiffOptions {
  std::string file, target, forms, keep = ".";
  std::vector<std::string> in;
  std::size_t warps = 1024, cases = 4096, shared_bytes = 0;
  std::uint64_t seed = 1;
  ResultOptions result;
  int gpus = 0;
  bool paths = false;   ///< fast path against reference
  bool scalar = false;  ///< the scalar instructions
  std::uint64_t elements = std::uint64_t{1} << 20;
  std::string record;
  std::string instruction_set;
  std::string checks = usual_checks;  ///< of kernels
  RecordedProgramOptions program;     ///< behind "--"
  CompareArchiveOptions launches;
};

class Clock {
 public:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

std::unique_ptr<GpuRunner> open(const DiffOptions& options, const Target* target) {
  GpuOptions wanted;
  wanted.target = target;
  wanted.most = options.gpus;
  return open_gpus(wanted);
}

std::string outputs_text(std::size_t outputs, std::size_t mismatches) {
  return fmt::format("{} outputs compared, {} mismatch{}", outputs, mismatches, mismatches == 1 ? "" : "es");
}

// ---- A mismatch -------------------------------------------------------------------------------------------------------------------------

/// Prints mismatches, and writes for each a program that reproduces it without any input.
class MismatchReport {
 public:
  explicit MismatchReport(std::string directory) : directory_(std::move(directory)) { check_output_place(path(1)); }

  /// Adds a mismatch of two states of one warp each; `title` names their origin.
  void add(const std::string& title, const Program& program, const WarpStates& initial, const WarpStates& expected, const WarpStates& found,
           const Comparison& comparison, std::uint32_t shared_base) {
    if (++count_ > most) return;
    std::string text = title + "\n";
    for (const Difference& difference : comparison.differences) text += describe(program, expected, found, difference);
    if (comparison.mismatches > comparison.differences.size())
      text += fmt::format("and {} more words of this warp\n", comparison.mismatches - comparison.differences.size());
    const std::filesystem::path file = path(count_);
    write_file(file, {commented(text), self_contained(program, initial, 0, shared_base)});
    const std::string options = explain_options(program, comparison.differences.front());
    say(text, fmt::format("{} --warps 1", file.string()), options.empty() ? "" : fmt::format("{} {}", file.string(), options));
  }

  /// Adds a mismatch of a warpgroup's product, as a kernel.
  void add(const WarpgroupMismatch& m, std::uint64_t seed) {
    constexpr std::size_t max_words = 8;
    if (++count_ > most) return;
    std::string text = fmt::format("{}, class {}, variant {}, seed {}, case {}\n", m.row.form.opcode(), m.row.operand_class->name,
                                   m.variant, seed, m.case_number);
    std::size_t differing = 0;
    for (std::size_t i = 0; i < m.expected.size(); ++i)
      if (m.expected[i] != m.found[i] && differing++ < max_words)
        text += fmt::format("  {}: emulator {:#010x}, GPU {:#010x}\n", answer_place(*m.row.form.warpgroup(), i), m.expected[i], m.found[i]);
    if (differing > max_words) text += fmt::format("and {} more words of this case\n", differing - max_words);
    const std::filesystem::path file = path(count_, "launch.json");
    write_launch(file, m.launch);
    say(text, file.string());
  }

 private:
  static constexpr int most = 20;

  std::filesystem::path path(int number, std::string_view ending = "ptx") const {
    return std::filesystem::path(directory_) / fmt::format("warpmat_mismatch_{}.{}", number, ending);
  }

  /// `replay` and `explain` are arguments of 'warpmat diff' and 'warpmat explain'; a kernel has no explanation.
  void say(const std::string& text, const std::string& replay, const std::string& explain = "") const {
    fmt::print("{}replay: warpmat diff {}\n", text, replay);
    if (!explain.empty()) fmt::print("explain: warpmat explain {}\n", explain);
    fmt::print("\n");
    if (count_ == most) fmt::print("Further mismatches are only counted.\n\n");
  }

  static std::string commented(const std::string& text) {
    std::string result = "// ";
    for (std::size_t i = 0; i < text.size(); ++i) {
      result += text[i];
      if (text[i] == '\n' && i + 1 < text.size()) result += "// ";
    }
    return result;
  }

  std::string directory_;
  int count_ = 0;
};

void fail_on(std::size_t mismatches, std::size_t outputs) {
  if (mismatches != 0) throw std::runtime_error(fmt::format("{} of {} outputs differ between emulator and GPU", mismatches, outputs));
}

// ---- One program ------------------------------------------------------------------------------------------------------------------------

void add_to(std::span<const NamedRegister* const> registers, std::span<Register> words, std::uint32_t value) {
  for (const NamedRegister* r : registers)
    for (std::uint32_t& word : words[static_cast<std::size_t>(r->slot)]) word += value;
}

/// Fills every warp from --in. Row addresses in its files count from the beginning of shared memory, as in 'warpmat run'.
void fill(WarpStates& states, const Program& program, const std::vector<Assignment>& inputs, std::uint32_t shared_base) {
  if (inputs.empty()) return;
  const std::vector<const NamedRegister*> addresses = address_inputs(program);
  Warp warp(program, states.shared_bytes, shared_base);
  for (std::size_t i = 0; i < states.warps; ++i) {
    add_to(addresses, states.registers_of(i), 0 - shared_base);
    std::ranges::copy(states.registers_of(i), warp.named_registers().begin());
    std::ranges::copy(states.shared_of(i), warp.shared().bytes().begin());
    for (const Assignment& input : inputs) input.place.fill(warp, input.what);
    std::ranges::copy(warp.named_registers(), states.registers_of(i).begin());
    add_to(addresses, states.registers_of(i), shared_base);
    std::ranges::copy(warp.shared().bytes(), states.shared_of(i).begin());
  }
}

void diff_program(const DiffOptions& options) {
  const Program program = read_program(options.file, options.target);
  const std::vector<Assignment> inputs = assignments(program, options.in, "in", "SOURCE");
  MismatchReport report(options.keep);
  const std::unique_ptr<GpuRunner> gpu = open(options, program.target());
  EmulatorRunner emulator(gpu->shared_base());

  WarpStates initial = random_states(program, options.warps, options.seed, options.shared_bytes, gpu->shared_base());
  fill(initial, program, inputs, gpu->shared_base());
  WarpStates expected = initial, found = initial;
  emulator.run(program, expected);
  gpu->run(program, found);
  const Comparison comparison = compare_states(program, expected, found, 1);
  if (comparison.mismatches != 0) {
    const std::size_t warp = comparison.differences.front().warp;
    const WarpStates one_expected = one_warp(program, expected, warp), one_found = one_warp(program, found, warp);
    report.add(fmt::format("{}, seed {}, warp {}", options.file, options.seed, warp), program, one_warp(program, initial, warp),
               one_expected, one_found, compare_states(program, one_expected, one_found), gpu->shared_base());
  }
  fmt::print("{}: {} warps, {}; {}; seed {}\n", options.file, options.warps, outputs_text(comparison.outputs, comparison.mismatches),
             gpu->description(), options.seed);
  fail_on(comparison.mismatches, comparison.outputs);
}

// ---- Every form -------------------------------------------------------------------------------------------------------------------------

/// The results of a sweep so far.
struct Findings {
  std::vector<SweepRow> rows;
  double seconds = 0;
  std::optional<std::string> error;  ///< the reason of an early end
  std::optional<int> interrupted;    ///< the signal that interrupted it

  std::size_t outputs() const { return sum(&SweepRow::outputs); }
  std::size_t mismatches() const { return sum(&SweepRow::mismatches); }

 private:
  std::size_t sum(std::size_t SweepRow::*member) const {
    std::size_t total = 0;
    for (const SweepRow& row : rows) total += row.*member;
    return total;
  }
};

/// Prints one line for a form when all its classes are done, for logs. A terminal shows the progress bar instead.
class FormLines {
 public:
  explicit FormLines(const std::vector<SweepRow>& planned) : shown_(isatty(STDERR_FILENO) == 0) {
    for (const SweepRow& row : planned) ++left_[row.form];
  }

  void add(const SweepRow& row) {
    SweepRow& all = sums_[row.form];
    all.cases += row.cases;
    all.outputs += row.outputs;
    all.mismatches += row.mismatches;
    if (--left_[row.form] == 0 && shown_)
      fmt::print(stderr, "{:7.1f} s  {}: {} cases, {}\n", clock_.seconds(), row.form.opcode(), all.cases,
                 outputs_text(all.outputs, all.mismatches));
  }

 private:
  bool shown_;
  Clock clock_;
  std::map<TestedForm, std::size_t> left_;
  std::map<TestedForm, SweepRow> sums_;
};

Findings run_sweep(const CaseRunner& emulator, std::span<const CaseRunner> gpus, const SweepPlan& plan, const DiffOptions& options) {
  MismatchReport report(options.keep);
  Findings findings;
  const std::vector<SweepRow> planned = rows_of(plan);
  FormLines lines(planned);
  std::size_t all_cases = 0;
  for (const SweepRow& row : planned) all_cases += row.planned.count;
  Progress progress(all_cases);
  SweepObserver observer;
  observer.advanced = [&](std::size_t cases) { progress.advance(cases); };
  observer.row = [&](const SweepRow& row) {
    findings.rows.push_back(row);
    lines.add(row);
  };
  observer.mismatch = [&](const SweepMismatch& m) {
    report.add(fmt::format("{}, class {}, seed {}, case {}", m.row.form.opcode(), m.row.operand_class->name, plan.seed, m.case_number),
               m.program, m.initial, m.expected, m.found, m.comparison, emulator.programs->shared_base());
  };
  observer.warpgroup_mismatch = [&](const WarpgroupMismatch& m) { report.add(m, plan.seed); };
  observer.stop = [] { return interruption() != 0; };
  const Clock clock;
  catch_interruptions();
  try {
    sweep(emulator, gpus, plan, observer);
  } catch (const std::exception& e) {
    findings.error = e.what();
  }
  findings.seconds = clock.seconds();
  const auto compared = [&](const SweepRow& row) { return row.cases == row.planned.count; };
  const bool complete = static_cast<std::size_t>(std::ranges::count_if(findings.rows, compared)) == planned.size();
  if (interruption() != 0 && !complete) findings.interrupted = interruption();
  return findings;
}

void print_table(const Findings& findings) {
  Table table({"form", "class", "cases", "outputs", "mismatches"});
  for (const SweepRow& row : findings.rows)
    table.add({row.form.opcode(), std::string(row.operand_class->name), std::to_string(row.cases), std::to_string(row.outputs),
               std::to_string(row.mismatches)});
  fmt::print("{}\n", table.text());
}

void print_summary(const Findings& findings, const SweepPlan& plan, const std::string& where) {
  const double rate = findings.seconds > 0 ? static_cast<double>(findings.outputs()) / findings.seconds : 0;
  fmt::print("{} forms for {}, {} in {:.1f} s ({:.3g} a second)\n{}\nseed {}, {} cases a class{}{}\n", plan.forms.size(), plan.target->name,
             outputs_text(findings.outputs(), findings.mismatches()), findings.seconds, rate, where, plan.seed, plan.cases,
             plan.first_case == 0 ? "" : fmt::format(" from {} on", plan.first_case),
             findings.error || findings.interrupted ? "; incomplete" : "");
}

/// Completes `result` by what the sweep found, and writes it.
void write_sweep(const Findings& findings, const SweepPlan& plan, const DiffOptions& options, RunResult result) {
  result.settings = {{"seed", std::to_string(plan.seed)}, {"version of the generator", std::to_string(case_generator_version)}};
  result.unit = "cases";
  result.range = {0, options.cases};
  result.columns = {"cases", "outputs", "mismatches"};
  result.seconds = findings.seconds;
  if (findings.error) end_early(result, *findings.error);
  if (findings.interrupted) end_early(result, "interrupted");
  for (const TestedForm& form : plan.forms) result.items.push_back(form.opcode());
  for (const SweepRow& row : findings.rows)
    result.rows.push_back({fmt::format("{} {}", row.form.opcode(), row.operand_class->name), {row.cases, row.outputs, row.mismatches}});
  write_result(options.result.json, result);
}

/// The sweep that the options select.
SweepPlan sweep_plan(const Target& target, const DiffOptions& options) {
  const auto [first, count] = share_of(options.result.shard, options.cases, "cases");
  return {select_tested_forms(target, options.forms), &target, count, options.seed, first};
}

/// Throws if the sweep failed, was interrupted or found a difference, after printing the results.
void fail_if_wrong(const Findings& findings) {
  if (findings.interrupted)
    throw Interrupted(*findings.interrupted,
                      fmt::format("{}; the rest was not compared", outputs_text(findings.outputs(), findings.mismatches())));
  if (findings.error) throw std::runtime_error(*findings.error);
  fail_on(findings.mismatches(), findings.outputs());
}

void diff_forms(const DiffOptions& options) {
  options.result.check();
  constexpr std::size_t runners = 6;  // enough for transfers, kernels and the driver's CPU work to overlap
  std::vector<std::unique_ptr<GpuRunner>> gpus;
  for (std::size_t i = 0; i < runners; ++i) gpus.push_back(open(options, options.target.empty() ? nullptr : &target(options.target)));
  const GpuRunner& gpu = *gpus.front();
  EmulatorRunner emulator(gpu.shared_base(), 1);
  const Target& target = options.target.empty() ? gpu.target() : warpmat::target(options.target);
  EmulatorKernelRunner kernels(target);
  const SweepPlan plan = sweep_plan(target, options);
  const bool warpgroups = std::ranges::any_of(plan.forms, [](const TestedForm& form) { return form.warpgroup() != nullptr; });
  std::vector<std::unique_ptr<KernelRunner>> kernel_gpus;
  std::vector<CaseRunner> devices;
  for (const auto& each : gpus) devices.emplace_back(*each, warpgroups ? kernel_gpus.emplace_back(open_kernel_gpu()).get() : nullptr);
  const Findings findings = run_sweep({emulator, &kernels}, devices, plan, options);
  print_table(findings);
  print_summary(findings, plan, gpu.description());
  write_sweep(findings, plan, options, begun_result("diff", &target, options.result.shard, &gpu));
  fail_if_wrong(findings);
}

/// Compares the fast path with the reference, without a GPU.
void diff_paths(const DiffOptions& options) {
  options.result.check();
  const Target& target = warpmat::target(options.target);
  if (!options.instruction_set.empty()) use_instruction_set(options.instruction_set);
  EmulatorRunner reference(0, 1, {.path = Path::reference}), fast(0, 1);
  EmulatorKernelRunner reference_kernels(target, {.execution = {.path = Path::reference}}), fast_kernels(target);
  const std::vector<CaseRunner> devices(machine::usable_cores(), {fast, &fast_kernels});
  const SweepPlan plan = sweep_plan(target, options);
  const Findings findings = run_sweep({reference, &reference_kernels}, devices, plan, options);
  print_table(findings);
  print_summary(findings, plan,
                fmt::format("fast path against reference, {}",
                            options.instruction_set.empty() ? instruction_sets().front() : options.instruction_set));
  write_sweep(findings, plan, options, begun_result("diff --paths", &target, options.result.shard));
  fail_if_wrong(findings);
}

// ---- A whole kernel ---------------------------------------------------------------------------------------------------------------------

void diff_kernel(const DiffOptions& options) {
  if (!options.in.empty() || options.shared_bytes != 0 || !options.target.empty())
    throw std::runtime_error(
        fmt::format("{} says what the kernel starts from, and the GPU is its target: --in, --shared-bytes and --target are for programs",
                    options.file));
  diff_launch(options.file, parse_checks(options.checks));
}

/// A whole program: records its launches, then compares them.
void diff_launches(const DiffOptions& options) {
  const TemporaryFolder folder;
  const std::filesystem::path archive = folder / "program.launches";
  catch_interruptions();
  const int status = record_program(options.program, archive);
  if (status != 0) fmt::print(stderr, "warpmat: {} ended with status {}\n", options.program.words.front(), status);
  CompareArchiveOptions launches = options.launches;
  launches.target = options.target;
  launches.keep = options.keep;
  compare_archive(archive, launches);
}

constexpr const char* diff_footer =
    R"(An output is a 32-bit word of a lane or of memory that the program can write: those are counted, and all other words are compared too.
Row addresses that --in names count from the beginning of shared memory.
At a mismatch warpmat prints the element, its lane and register and both values, and writes a program that shows it again without any input.
The exit status is 0 if nothing differs, 1 if something does or the run broke off, and 77 without a GPU of the target's hardware.
Interrupted by SIGINT or SIGTERM, a sweep prints and writes what it has compared, marked incomplete, and ends with 130 or 143.

Examples:
  warpmat diff kernel.ptx --warps 100000
  warpmat diff kernel.ptx --in 0.a=iota --in tile:f16=tile.npy
  warpmat diff --cases 20000 --json sweep.json
  warpmat diff --cases 20000 --shard 2/8 --json sweep_2.json
  warpmat diff --forms 'mma.*m16n8k16.*f16' --seed 7
  warpmat diff --scalar --forms '^cvt'
  warpmat diff --scalar --forms '^div.(approx|full)' --elements 268435456 --shard 3/16
  warpmat diff launch.json
  warpmat diff --kernels gemm --first 10 -- ./program --size 1024
  warpmat diff --paths --target sm_90a --cases 2000)";

/// FILE, which it returns, and the options of its runs.
CommandOption add_file_options(const Command& command, DiffOptions& options) {
  const CommandOption file = command.add_option(
      "FILE", options.file, "A program, or a kernel's launch.json; without one, every form runs with every class of operands");
  command.add_option("--target", options.target, "For example sm_90a; else the file's own .target, or the machine's GPU");
  command.add_option("--check", options.checks, "Of a kernel: as warpmat launch --check").capture_default_str();
  command.add_option("--seed", options.seed, "Of the random registers and memory (default: 1)");
  command.add_option("--warps", options.warps, "With FILE: warps to run (default: 1024)")
      .needs(file)
      .range(std::size_t{1}, std::size_t{1} << 20);
  command.add_option("--in", options.in, "With FILE: PLACE=SOURCE as in 'warpmat run', the same in every warp; may be repeated")
      .needs(file)
      .allow_extra_args(false);
  command.add_option("--shared-bytes", options.shared_bytes, "With FILE: shared memory, this many bytes in all")
      .needs(file)
      .range(std::size_t{0}, std::size_t{1} << 18);
  return file;
}

/// Of all forms, which run without a file.
void add_form_options(const Command& command, DiffOptions& options, CommandOption file) {
  command.add_option("--forms", options.forms, "Without FILE: only the forms in whose opcode this regular expression is found")
      .excludes(file);
  command.add_option("--cases", options.cases, "Without FILE: warps for each form and class (default: 4096)")
      .excludes(file)
      .range(std::size_t{1}, std::size_t{1} << 40);
  add_result_options(command, options.result);
  for (const char* of_all : {"--shard", "--json"}) command.get_option(of_all).excludes(file);
}

/// --paths, and what goes with it.
void add_paths_options(const Command& command, DiffOptions& options, CommandOption file) {
  const CommandOption target = command.get_option("--target");
  const CommandOption paths =
      command.add_flag("--paths", options.paths, "Without a GPU: compare the fast path with the reference, for --target");
  paths.needs(target).excludes(file);
  command
      .add_option("--instruction-set", options.instruction_set, "With --paths: " + fmt::format("{}", fmt::join(instruction_sets(), ", ")))
      .needs(paths);
}

/// --scalar, and what goes with it.
void add_scalar_options(const Command& command, DiffOptions& options, CommandOption file) {
  const CommandOption scalar =
      command.add_flag("--scalar", options.scalar, "Without FILE: the scalar instructions instead of the matrix instructions");
  scalar.excludes(file).excludes(command.get_option("--paths"));
  command
      .add_option("--elements", options.elements, "With --scalar: elements of each class of operands, rounded up to 256 (default: 1048576)")
      .needs(scalar)
      .range(std::uint64_t{1}, std::uint64_t{1} << 40);
  command.add_option("--record", options.record, "With --scalar: write the digests of the GPU's answers to this file")
      .needs(scalar)
      .type_name("FILE.tsv");
}

/// What the options ask for.
void run_diff(DiffOptions& options) {
  if (!options.program.words.empty()) return diff_launches(options);
  if (options.scalar) return diff_scalar({options.target, options.forms, options.elements, options.result, options.record});
  if (options.paths) return diff_paths(options);
  if (options.file.ends_with(".json")) return diff_kernel(options);
  options.file.empty() ? diff_forms(options) : diff_program(options);
}

}  // namespace

void add_diff(Command app) {
  const auto options = std::make_shared<DiffOptions>();
  const Command command = add_handed_subcommand(app, "diff");
  const CommandOption file = add_file_options(command, *options);
  add_form_options(command, *options, file);
  command.add_option("--keep", options->keep, "Directory for the programs that replay mismatches (default: this one)")
      .type_name("DIRECTORY");
  command.add_option("--gpus", options->gpus, "Use no more GPUs than this (default: all of the target's hardware)").range(1, 1024);
  add_paths_options(command, *options, file);
  add_scalar_options(command, *options, file);
  command.words_behind_dashes(options->program.words);
  add_recording_flags(command, options->program);
  add_comparing_flags(command, options->launches);
  command.footer(diff_footer);
  command.callback([options] { run_diff(*options); });
}

}  // namespace warpmat
