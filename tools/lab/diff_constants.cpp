#include "diff_constants.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ctime>
#include <stdexcept>

#include <warpmat/files/output_file.h>
#include <warpmat/machine/threads.h>

#include "gpu/compare/constant_sweep.h"
#include "gpu/cuda/constant_gpu.h"
#include "gpu/cuda/gpu_runner.h"
#include "tools/lab/report/interruption.h"
#include "tools/report/pattern.h"
#include "tools/report/progress.h"

namespace warpmat {
namespace {

std::vector<ScalarCase> selected_cases(const Target& target, const ConstantDiff& options) {
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

}  // namespace

void diff_constants(const ConstantDiff& options) {
  if (!options.record.empty()) {
    if (!options.shard.whole()) throw std::runtime_error("--record is for the whole, without --shard");
    check_output_place(options.record);
  }
  GpuOptions wanted;
  if (!options.target.empty()) wanted.target = &target(options.target);
  const std::unique_ptr<GpuRunner> gpu = open_gpus(wanted);
  const Target& target = wanted.target != nullptr ? *wanted.target : gpu->target();
  const std::vector<ScalarCase> cases = selected_cases(target, options);
  const auto [first, count] = options.shard.of(options.tuples);
  if (count == 0)
    throw std::runtime_error(fmt::format("--shard {}: {} tuples cannot be shared by so many", to_string(options.shard), options.tuples));
  catch_interruptions();
  ConstantSweep sweep{.cases = constant_cases(cases),
                      .first = first,
                      .tuples = static_cast<std::size_t>(count),
                      .threads = machine::usable_cores(),
                      .target = &target,
                      .version = assembled_version};
  std::vector<ConstantFinding> findings;
  {
    Progress progress(sweep.cases.size());
    sweep.advanced = [&](std::uint64_t done) { progress.advance(done); };
    sweep.stop = [] { return interruption() != 0; };
    findings = run_constant_sweep(
        sweep, [&] { return std::make_unique<EmulatorConstantRunner>(target); }, open_constant_gpu);
  }
  print(findings);
  if (!options.record.empty() && interruption() == 0) write_file(options.record, {recording(findings, sweep.tuples, *gpu)});
  fail_if_wrong(findings, sweep, gpu->description());
}

}  // namespace warpmat
