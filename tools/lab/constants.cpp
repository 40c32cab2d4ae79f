#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <warpmat/files/output_file.h>
#include <warpmat/machine/threads.h>

#include "commands.h"
#include "gpu/cuda/gpu_runner.h"
#include "gpu/lab/constants/constant_gpu.h"
#include "gpu/lab/constants/constant_sweep.h"
#include "tools/command_line/handed_commands.h"
#include "tools/gpu/report/interruption.h"
#include "tools/gpu/report/result_options.h"
#include "tools/gpu/report/run_result.h"
#include "tools/report/pattern.h"
#include "tools/report/progress.h"

namespace warpmat {
namespace {

struct ConstantOptions {
  std::string target, forms;    ///< forms: only opcodes in which this regular expression is found
  std::size_t tuples = 200;     ///< of operands, for each case
  bool every_spelling = false;  ///< else the first of each row
  ResultOptions result;         ///< its shard: of the tuples
  std::string record;           ///< a file for the digests of the GPU's answers, or empty
};

std::vector<ScalarCase> selected_cases(const Target& target, const ConstantOptions& options) {
  std::vector<ScalarCase> cases = scalar_cases(target, assembled_version);
  if (!options.every_spelling) cases = first_spellings(std::move(cases));
  if (!options.forms.empty()) {
    const Pattern expression(options.forms);
    std::erase_if(cases, [&](const ScalarCase& c) { return !expression.found_in(c.opcode); });
  }
  if (cases.empty()) throw std::invalid_argument(fmt::format("'{}' is found in no scalar opcode of {}", options.forms, target.name));
  return cases;
}

void print(const std::vector<ConstantFinding>& findings) {
  for (const ConstantFinding& finding : findings) {
    if (!finding.error.empty()) fmt::print("{}: not run: {}\n", finding.title, finding.error);
    for (const ConstantDifference& d : finding.examples)
      fmt::print("{}: tuple {}, lane {}: {:#x}, result {}: the emulator has {:#x}, the GPU {:#x}\n", finding.title, d.tuple, d.lane,
                 fmt::join(d.sources, ", "), d.result, d.expected, d.found);
  }
}

/// "title<TAB>digest" of each case, behind a line that says where the answers come from.
std::string recording(const std::vector<ConstantFinding>& findings, std::size_t tuples, const GpuRunner& gpu) {
  std::string text = fmt::format("# {}, {:%Y-%m-%d}; {} tuples\n", gpu.description(), fmt::gmtime(std::time(nullptr)), tuples);
  for (const ConstantFinding& finding : findings)
    if (finding.error.empty()) text += fmt::format("{}\t{:016x}\n", finding.title, finding.digest);
  return text;
}

/// Completes `result` by what was found, and writes it.
void write(const std::vector<ConstantFinding>& findings, const ConstantOptions& options, RunResult result) {
  result.unit = "tuples";
  result.range = {0, options.tuples};
  result.columns = {"outputs", "mismatches"};
  for (const ConstantFinding& finding : findings) {
    result.items.push_back(finding.title);
    if (!finding.error.empty()) end_early(result, fmt::format("{}: {}", finding.title, finding.error));
    result.rows.push_back({finding.title, {finding.outputs, finding.mismatches}});
  }
  if (interruption() != 0) end_early(result, "interrupted");
  write_result(options.result.json, result);
}

/// Throws if the sweep was interrupted or found a difference.
void fail_if_wrong(const std::vector<ConstantFinding>& findings, const ConstantSweep& sweep, const std::string& gpu) {
  std::uint64_t outputs = 0, mismatches = 0, refused = 0;
  for (const ConstantFinding& finding : findings) {
    outputs += finding.outputs;
    mismatches += finding.mismatches;
    refused += !finding.error.empty();
  }
  const std::string counts = fmt::format("{} outputs compared, {} mismatches", outputs, mismatches);
  fmt::print("{} cases, tuples {} to {} of each, {}, {} not run; {}\n", sweep.cases.size(), sweep.first, sweep.first + sweep.tuples - 1,
             counts, refused, gpu);
  throw_if_interrupted(counts + "; the rest was not compared");
  if (mismatches != 0 || refused != 0)
    throw std::runtime_error(fmt::format("{} outputs differ, {} cases did not run", mismatches, refused));
}

void compare_constants(const ConstantOptions& options) {
  options.result.check();
  if (!options.record.empty()) {
    if (!options.result.shard.whole()) throw std::runtime_error("--record is for the whole, without --shard");
    check_output_place(options.record);
  }
  GpuOptions wanted;
  if (!options.target.empty()) wanted.target = &target(options.target);
  const std::unique_ptr<GpuRunner> gpu = open_gpus(wanted);
  const Target& target = wanted.target != nullptr ? *wanted.target : gpu->target();
  const std::vector<ScalarCase> cases = selected_cases(target, options);
  const auto [first, count] = share_of(options.result.shard, options.tuples, "tuples");
  RunResult result = begun_result("constants", &target, options.result.shard, gpu.get());
  catch_interruptions();
  ConstantSweep sweep{.cases = constant_cases(cases),
                      .first = first,
                      .tuples = static_cast<std::size_t>(count),
                      .threads = machine::usable_cores(),
                      .target = &target,
                      .version = assembled_version};
  std::vector<ConstantFinding> findings;
  const auto start = std::chrono::steady_clock::now();
  {
    Progress progress(sweep.cases.size());
    sweep.advanced = [&](std::uint64_t done) { progress.advance(done); };
    sweep.stop = [] { return interruption() != 0; };
    findings = run_constant_sweep(
        sweep, [&] { return std::make_unique<EmulatorConstantRunner>(target); }, open_constant_gpu);
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  write(findings, options, result);
  print(findings);
  if (!options.record.empty() && interruption() == 0) write_file(options.record, {recording(findings, sweep.tuples, *gpu)});
  fail_if_wrong(findings, sweep, gpu->description());
}

}  // namespace

void add_constants(Command app) {
  const auto options = std::make_shared<ConstantOptions>();
  const Command command = add_handed_subcommand(app, "constants");
  command.add_option("--target", options->target, "For example sm_90a (default: the machine's GPU)").type_name("T");
  command.add_option("--forms", options->forms, "Only the instructions in whose opcode this regular expression is found");
  command.add_option("--tuples", options->tuples, "Tuples of operands for each case (default: 200)")
      .range(std::size_t{1}, std::size_t{1} << 20);
  command.add_flag("--every-spelling", options->every_spelling, "Every spelling, not the first of each row");
  add_result_options(command, options->result);
  command.add_option("--record", options->record, "Write the digests of the GPU's answers to this file").type_name("FILE.tsv");
  command.footer(
      "An assembler computes some instructions with constant operands itself. All operands are constants, all but one, or one.\n"
      "The exit status is 0 if nothing differs, 1 if something does, and 77 without a GPU.\n\n"
      "Examples:\n  warpmat constants --forms '^rsqrt.approx.f32|^div.full' --tuples 8");
  command.callback([options] { compare_constants(*options); });
}

}  // namespace warpmat
