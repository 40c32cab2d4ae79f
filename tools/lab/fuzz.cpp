#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <filesystem>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <warpmat/files/output_file.h>
#include <warpmat/machine/threads.h>
#include "commands.h"
#include "fuzz_assembler.h"
#include "fuzz_kernels.h"
#include "fuzz_machine_code.h"

#include "gpu/cases/fuzz_program.h"
#include "gpu/compare/compare.h"
#include "gpu/compare/self_contained.h"
#include "gpu/cuda/gpu_runner.h"
#include "gpu/runners/emulator_runner.h"
#include "tools/command_line/handed_commands.h"
#include "tools/gpu/report/interruption.h"
#include "tools/gpu/report/mismatch_text.h"
#include "tools/gpu/report/result_options.h"
#include "tools/gpu/report/run_result.h"
#include "tools/report/progress.h"

namespace warpmat {
namespace {

struct FuzzCommandOptions {
  std::size_t programs = 1000, warps = 32;
  std::uint64_t seed = 1, first = 0, enough = 10;
  FuzzOptions fuzz;
  ResultOptions result;
  std::string target, keep = ".", write_answers, read_answers;
  bool kernels = false, warpgroups = false, assembler = false, machine_code = false;

  /// The numbers of this part's programs.
  Shard::Range range() const {
    const Shard::Range part = share_of(result.shard, programs, "programs");
    return {first + part.first, part.count};
  }
};

/// A program with its initial states and the emulator's results.
struct Prepared {
  std::uint64_t index;
  FuzzProgram fuzz;
  Program program;
  WarpStates initial, expected;
};

Prepared prepare(const FuzzProgram& fuzz, std::uint64_t index, const FuzzCommandOptions& options, std::uint32_t shared_base) {
  Program program = parse(fuzz.text());
  WarpStates initial = random_fuzz_states(program, options.seed, index, options.warps);
  WarpStates expected = initial;
  EmulatorRunner(shared_base, 1).run(program, expected);
  return {index, fuzz, std::move(program), std::move(initial), std::move(expected)};
}

WarpStates run(Runner& runner, const Prepared& prepared) {
  WarpStates states = prepared.initial;
  runner.run(prepared.program, states);
  return states;
}

/// Counts of a run.
struct FuzzCounts {
  std::uint64_t programs = 0, statements = 0, outputs = 0, differing_programs = 0;
};

std::string counts_text(const FuzzCounts& counts) {
  return fmt::format("{} programs, {} statements, {} outputs compared, {} program{} differ", counts.programs, counts.statements,
                     counts.outputs, counts.differing_programs, counts.differing_programs == 1 ? "" : "s");
}

/// Progress for a stderr that is not a terminal: a line after each tenth of the programs, and at least every half minute.
class ProgressLines {
 public:
  explicit ProgressLines(std::uint64_t programs) : programs_(programs), shown_(isatty(STDERR_FILENO) == 0) {}

  void advance(const FuzzCounts& counts) {
    constexpr std::chrono::seconds pause{30};
    const auto now = std::chrono::steady_clock::now();
    const std::uint64_t tenth = counts.programs * 10 / programs_;
    if (!shown_ || (tenth == tenth_ && now - last_ < pause)) return;
    tenth_ = tenth;
    last_ = now;
    const std::chrono::duration<double> elapsed = now - start_;
    fmt::print(stderr, "{:7.1f} s  of {} programs: {}\n", elapsed.count(), programs_, counts_text(counts));
  }

 private:
  std::uint64_t programs_;
  bool shown_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now(), last_ = start_;
  std::uint64_t tenth_ = 0;
};

/// The findings of all threads, and the next program.
class FuzzFindings {
 public:
  explicit FuzzFindings(const FuzzCommandOptions& options) : range_(options.range()), progress_(range_.count), lines_(range_.count) {}

  /// The number of a program that has not run; none if enough were run or differ, or a signal asks for the end.
  std::optional<std::uint64_t> next() {
    constexpr std::size_t enough = 10;
    const std::lock_guard lock(mutex_);
    if (begun_ == range_.count || counts_.differing_programs >= enough || interruption() != 0) return std::nullopt;
    return range_.first + begun_++;
  }

  void add(const Prepared& prepared, const Comparison& comparison) {
    const std::lock_guard lock(mutex_);
    ++counts_.programs;
    counts_.statements += prepared.program.statements().size();
    counts_.outputs += comparison.outputs;
    counts_.differing_programs += comparison.mismatches != 0;
    progress_.advance();
    lines_.advance(counts_);
  }

  /// Stops the start of further programs.
  void stop() {
    const std::lock_guard lock(mutex_);
    begun_ = range_.count;
  }

  /// Prints `text` without interleaving.
  void print(const std::string& text) {
    const std::lock_guard lock(mutex_);
    fmt::print("{}", text);
  }

  const FuzzCounts& counts() const { return counts_; }
  bool complete() const { return counts_.programs == range_.count; }

 private:
  Shard::Range range_;
  Progress progress_;
  ProgressLines lines_;
  std::mutex mutex_;
  std::uint64_t begun_ = 0;
  FuzzCounts counts_;
};

/// Runs programs on one thread, with its own runner.
class Fuzzer {
 public:
  Fuzzer(const FuzzCommandOptions& options, const Target& target, std::unique_ptr<GpuRunner> gpu, FuzzFindings& findings)
      : options_(options), target_(target), gpu_(std::move(gpu)), findings_(findings) {}

  void run_all() {
    try {
      while (const auto index = findings_.next()) check(*index);
    } catch (...) {
      findings_.stop();
      throw;
    }
  }

 private:
  void check(std::uint64_t index) {
    const Prepared prepared =
        prepare(random_fuzz_program(target_, options_.seed, index, options_.fuzz), index, options_, gpu_->shared_base());
    const Comparison comparison = compare_states(prepared.program, prepared.expected, run(*gpu_, prepared), 1);
    findings_.add(prepared, comparison);
    if (comparison.mismatches != 0) report(prepared);
  }

  /// Whether a shortened program still differs.
  bool differs(const FuzzProgram& candidate, std::uint64_t index) {
    const Prepared prepared = prepare(candidate, index, options_, gpu_->shared_base());
    return compare_states(prepared.program, prepared.expected, run(*gpu_, prepared), 1).mismatches != 0;
  }

  void report(const Prepared& failing) {
    const FuzzProgram shortest = shrink(failing.fuzz, [&](const FuzzProgram& candidate) { return differs(candidate, failing.index); });
    const Prepared prepared = prepare(shortest, failing.index, options_, gpu_->shared_base());
    const WarpStates found = run(*gpu_, prepared);
    const Comparison comparison = compare_states(prepared.program, prepared.expected, found, 4);
    std::string text = fmt::format("seed {}, program {}: {} of {} statements still differ; {} words do\n", options_.seed, failing.index,
                                   shortest.statements(), failing.fuzz.statements(), comparison.mismatches);
    for (const Difference& difference : comparison.differences) text += describe(prepared.program, prepared.expected, found, difference);
    const auto file = std::filesystem::path(options_.keep) / fmt::format("warpmat_fuzz_{}_{}.ptx", options_.seed, failing.index);
    const std::size_t warp = comparison.differences.empty() ? 0 : comparison.differences.front().warp;
    write_file(file, {commented(text), self_contained(prepared.program, prepared.initial, warp, gpu_->shared_base())});
    findings_.print(fmt::format("{}replay: warpmat diff {} --warps 1\n\n", text, file.string()));
  }

  const FuzzCommandOptions& options_;
  const Target& target_;
  std::unique_ptr<GpuRunner> gpu_;
  FuzzFindings& findings_;
};

/// Runs all programs on a few threads: the driver assembles one program at a time, while others are emulated. Throws what any of them
/// throws.
void run_all(const FuzzCommandOptions& options, const GpuOptions& gpus, const Target& target, FuzzFindings& findings) {
  constexpr unsigned thread_limit = 4;
  std::vector<std::future<void>> threads;
  for (unsigned i = 0; i < std::min(machine::usable_cores(), thread_limit); ++i)
    threads.push_back(std::async(std::launch::async, [&] { Fuzzer(options, target, open_gpus(gpus), findings).run_all(); }));
  for (std::future<void>& thread : threads) thread.wait();
  for (std::future<void>& thread : threads) thread.get();
}

/// The properties that, with target and seed, decide which programs are drawn.
std::string kind(const FuzzOptions& options) {
  return fmt::format("at most {} statements{}{}", options.max_statements, options.repeated_destinations ? ", repeated destinations" : "",
                     options.assembler_faults ? ", assembler faults" : "");
}

/// The run that the options describe, before its start.
RunResult planned(const FuzzCommandOptions& options, const GpuRunner& gpu, const Target& target) {
  RunResult result = begun_result("fuzz", &target, options.result.shard, &gpu);
  result.settings = {{"seed", std::to_string(options.seed)}, {"programs", kind(options.fuzz)}};
  result.amounts = {{"warps", std::to_string(options.warps)}};
  result.unit = "programs";
  result.range = {options.first, options.programs};
  result.items = {"programs"};
  result.columns = {"programs", "statements", "outputs", "differ"};
  return result;
}

/// Prints and writes the findings, whether or not the run is complete.
void report(RunResult& found, const FuzzCounts& counts, const FuzzCommandOptions& options, const std::string& description) {
  fmt::print("{} in {:.1f} s{}\n{}\nseed {}, {} warps each, programs from {} on\n", counts_text(counts), found.seconds,
             found.complete ? "" : "; incomplete", description, options.seed, options.warps, options.range().first);
  found.rows = {{"programs", {counts.programs, counts.statements, counts.outputs, counts.differing_programs}}};
  write_result(options.result.json, found);
}

void fuzz(const FuzzCommandOptions& options) {
  const KernelFuzzOptions kernels{.first = options.first,
                                  .kernels = options.programs,
                                  .seed = options.seed,
                                  .result = options.result,
                                  .warpgroups = options.warpgroups,
                                  .keep = options.keep,
                                  .enough = options.enough,
                                  .answers = options.write_answers};
  if (!options.read_answers.empty()) return fuzz_answers(options.read_answers, options.result);
  if (options.assembler) return fuzz_assembler(kernels, options.target);
  if (options.machine_code) return fuzz_machine_code(kernels, options.target);
  if ((options.kernels || options.warpgroups) && !options.target.empty())
    throw std::runtime_error(
        "--target: whole kernels run as what this machine's GPU is; only --assembler and --machine-code have another target");
  if (options.kernels || options.warpgroups) return fuzz_kernels(kernels);
  check_output_place(std::filesystem::path(options.keep) / "warpmat_fuzz.ptx");
  options.result.check();
  options.range();  // fails if there are too few programs
  GpuOptions gpus;
  gpus.target = options.target.empty() ? nullptr : &target(options.target);
  const std::unique_ptr<GpuRunner> gpu = open_gpus(gpus);
  const Target& target = gpus.target != nullptr ? *gpus.target : gpu->target();
  RunResult found = planned(options, *gpu, target);
  const auto start = std::chrono::steady_clock::now();
  FuzzFindings findings(options);
  catch_interruptions();
  std::exception_ptr failure;
  try {
    run_all(options, gpus, target, findings);
  } catch (const std::exception& e) {
    failure = std::current_exception();
    end_early(found, e.what());
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  found.seconds = seconds.count();
  const FuzzCounts& counts = findings.counts();
  if (!failure && !findings.complete()) end_early(found, interruption() != 0 ? "interrupted" : "ended after enough programs that differ");
  report(found, counts, options, gpu->description());
  if (failure) std::rethrow_exception(failure);
  if (!found.complete) throw_if_interrupted(counts_text(counts) + "; the rest was not run");
  if (counts.differing_programs != 0)
    throw std::runtime_error(fmt::format("{} programs differ between emulator and GPU", counts.differing_programs));
}

constexpr const char* fuzz_footer =
    R"(A program that differs is shortened as long as it does, and written to a file that shows it without any input. After ten the run ends.
A program depends on the seed and its number alone: --first 123 --programs 1 runs number 123 again.
The exit status is 0 if nothing differs, 1 if something does or the run broke off, and 77 without a GPU.
Interrupted by SIGINT or SIGTERM, it prints and writes what was run, marked incomplete, and ends with 130 or 143.

Examples:
  warpmat fuzz --programs 10000
  warpmat fuzz --programs 1000000 --shard 2/8 --json fuzz_2.json
  warpmat fuzz --seed 7 --max-statements 8
  warpmat fuzz --kernels --programs 20000
  warpmat fuzz --kernels --programs 20000 --write-answers answers.txt
  warpmat fuzz --kernels --read-answers answers.txt
  warpmat fuzz --kernels --programs 1000 --assembler --target sm_80
  warpmat fuzz --kernels --programs 20000 --machine-code
  warpmat fuzz --warpgroups --programs 20000)";

}  // namespace

void add_fuzz(Command app) {
  const auto options = std::make_shared<FuzzCommandOptions>();
  const Command command = add_handed_subcommand(app, "fuzz");
  command.add_option("--programs", options->programs, "How many (default: 1000)")
      .type_name("N")
      .range(std::size_t{1}, std::size_t{1} << 40);
  command.add_option("--first", options->first, "Number of the first program (default: 0)").type_name("N");
  command.add_option("--seed", options->seed, "Of programs and states (default: 1)").type_name("S");
  command.add_option("--max-statements", options->fuzz.max_statements, "Of a program (default: 50)").type_name("N").range(1, 1000);
  command.add_option("--warps", options->warps, "Warps that run each program (default: 32)").type_name("N").range(1, 1 << 16);
  command.add_flag("--repeated-destinations", options->fuzz.repeated_destinations,
                   "Also one register twice in a list of destinations, where the ISA does not say which result stays");
  command.add_flag("--assembler-faults", options->fuzz.assembler_faults,
                   "Also statements that ptxas 13.0 is known to assemble wrongly (docs/reference/numerics.md)");
  command.add_option("--target", options->target, "For example sm_90a (default: what the machine's GPU is)").type_name("T");
  add_result_options(command, options->result);
  const CommandOption kernels =
      command.add_flag("--kernels", options->kernels,
                       "Whole kernels instead: scalar instructions, branches, loops, barriers, memory, several warps and blocks");
  const CommandOption warpgroups = command.add_flag(
      "--warpgroups", options->warpgroups, "Kernels of wgmma instead: random forms, descriptors, operands in registers, groups and waits");
  warpgroups.excludes(kernels);
  for (const CommandOption whole : {kernels, warpgroups})
    for (const char* other : {"--max-statements", "--warps", "--repeated-destinations", "--assembler-faults"})
      whole.excludes(command.get_option(other));
  const CommandOption assembler = command.add_flag(
      "--assembler", options->assembler, "With --kernels: compare with this machine's ptxas which sums become fma; no GPU is needed");
  assembler.needs(kernels);
  command.add_flag("--machine-code", options->machine_code, "With --kernels: compare the interpreter with machine code; no GPU is needed")
      .needs(kernels)
      .excludes(assembler);
  const CommandOption enough = command.add_option(
      "--enough", options->enough, "With --kernels: end after so many that differ, of which ten are shortened (default: 10)");
  enough.type_name("N").range(std::uint64_t{1}, std::uint64_t{1} << 30).needs(kernels);
  const CommandOption written = command.add_option("--write-answers", options->write_answers,
                                                   "With --kernels: write a digest of what the GPU gives for each kernel, and the bytes "
                                                   "that differ, and go on to the end; nothing is kept");
  written.type_name("FILE").needs(kernels).excludes(assembler).excludes(enough);
  const CommandOption read = command.add_option(
      "--read-answers", options->read_answers,
      "With --kernels: compare with such a file, which says seed, numbers and target; no GPU is needed, and nothing is kept");
  read.type_name("FILE").needs(kernels).excludes(written).excludes(assembler).excludes(enough);
  for (const char* of_file : {"--seed", "--first", "--programs", "--target"}) read.excludes(command.get_option(of_file));
  command.add_option("--keep", options->keep, "Directory for the programs that differ (default: this one)")
      .type_name("DIRECTORY")
      .excludes(written)
      .excludes(read);
  command.footer(fuzz_footer);
  command.callback([options] { fuzz(*options); });
}

}  // namespace warpmat
