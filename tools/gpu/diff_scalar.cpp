#include "diff_scalar.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <warpmat/explain/table.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <map>
#include <stdexcept>

#include <warpmat/files/output_file.h>
#include <warpmat/machine/threads.h>

#include "gpu/compare/scalar_sweep.h"
#include "gpu/cuda/gpu_runner.h"
#include "gpu/cuda/scalar_gpu.h"
#include "tools/gpu/report/interruption.h"
#include "tools/gpu/report/run_result.h"
#include "tools/report/pattern.h"
#include "tools/report/progress.h"

namespace warpmat {
namespace {

std::vector<ScalarCase> selected_cases(const Target& target, const std::string& forms) {
  std::vector<ScalarCase> cases = scalar_cases(target, assembled_version);
  if (!forms.empty()) {
    const Pattern expression(forms);
    std::erase_if(cases, [&](const ScalarCase& c) { return !expression.found_in(c.opcode); });
  }
  if (cases.empty()) throw std::invalid_argument(fmt::format("'{}' is found in no scalar opcode of {}", forms, target.name));
  return cases;
}

struct Totals {
  std::size_t spellings = 0;
  std::uint64_t outputs = 0, mismatches = 0;
};

/// One row for each spelling if there are few, else one for each mnemonic.
void print_table(const std::vector<ScalarFinding>& findings) {
  constexpr std::size_t few = 40;
  std::map<std::string, Totals> by_name;
  for (const ScalarFinding& finding : findings) {
    const bool each = findings.size() <= few * scalar_classes;
    Totals& totals = by_name[each ? finding.title : finding.title.substr(0, finding.title.find('.'))];
    totals.spellings += finding.operand_class == ScalarClass::random;
    totals.outputs += finding.outputs;
    totals.mismatches += finding.mismatches;
  }
  Table table({"instruction", "spellings", "outputs", "mismatches"});
  for (const auto& [name, totals] : by_name)
    table.add({name, fmt::format("{}", totals.spellings), fmt::format("{}", totals.outputs), fmt::format("{}", totals.mismatches)});
  fmt::print("{}", table.text());
}

void print_mismatches(const std::vector<ScalarFinding>& findings) {
  for (const ScalarFinding& finding : findings) {
    if (!finding.error.empty() && finding.operand_class == ScalarClass::random)
      fmt::print("{}: not run: {}\n", finding.title, finding.error);
    for (const ScalarDifference& d : finding.examples)
      fmt::print("{}, class {}, element {}: {:#x}, result {}: the emulator has {:#x}, the GPU {:#x}\n", finding.title,
                 name(finding.operand_class), d.element, fmt::join(d.sources, ", "), d.result, d.expected, d.found);
  }
}

/// "title<TAB>digest" of each case, after lines that name the origin of the answers.
std::string recording(const std::vector<ScalarFinding>& findings, const GpuRunner& gpu) {
  std::string text = fmt::format("# {}, {:%Y-%m-%d}; {} elements of each of {} classes\n", gpu.description(),
                                 fmt::gmtime(std::time(nullptr)), scalar_digest_count, scalar_classes);
  for (std::size_t i = 0; i < findings.size(); i += scalar_classes) {
    if (!findings[i].error.empty()) continue;
    std::vector<std::uint64_t> of_classes;
    for (std::size_t c = 0; c < scalar_classes; ++c) of_classes.push_back(findings[i + c].digest);
    text += fmt::format("{}\t{:016x}\n", findings[i].title, combine_digests(of_classes));
  }
  return text;
}

/// The sweep of `cases` that the options select.
ScalarSweep planned(std::vector<ScalarCase> cases, const ScalarDiff& options) {
  constexpr std::uint64_t unit = 256;  // elements that a block of threads computes
  const auto [first, count] = share_of(options.result.shard, (options.elements + unit - 1) / unit, "blocks of 256 elements");
  return {std::move(cases), first * unit, count * unit, machine::usable_cores()};
}

void check(const ScalarDiff& options) {
  options.result.check();
  if (options.record.empty()) return;
  if (!options.result.shard.whole())
    throw std::runtime_error("--record writes digests of the first elements: it is for the whole, without --shard");
  check_output_place(options.record);
}

/// Completes `result` by what was found, and writes it.
void write(const std::vector<ScalarFinding>& findings, const ScalarDiff& options, RunResult result) {
  result.unit = "elements";
  result.range = {0, options.elements};
  result.columns = {"outputs", "mismatches"};
  for (const ScalarFinding& finding : findings) {
    if (finding.operand_class == ScalarClass::random) result.items.push_back(finding.title);
    if (!finding.error.empty()) end_early(result, fmt::format("{}: {}", finding.title, finding.error));
    result.rows.push_back({fmt::format("{} {}", finding.title, name(finding.operand_class)), {finding.outputs, finding.mismatches}});
  }
  if (interruption() != 0) end_early(result, "interrupted");
  write_result(options.result.json, result);
}

/// Throws if the sweep was interrupted or found a difference.
void fail_if_wrong(const std::vector<ScalarFinding>& findings, const ScalarSweep& sweep, const std::string& gpu) {
  std::uint64_t outputs = 0, mismatches = 0, refused = 0;
  for (const ScalarFinding& finding : findings) {
    outputs += finding.outputs;
    mismatches += finding.mismatches;
    refused += !finding.error.empty() && finding.operand_class == ScalarClass::random;
  }
  const std::string counts = fmt::format("{} outputs compared, {} mismatches", outputs, mismatches);
  fmt::print("{} spellings, elements {} to {} of each class, {}, {} not run; {}\n", sweep.cases.size(), sweep.first,
             sweep.first + sweep.count - 1, counts, refused, gpu);
  throw_if_interrupted(counts + "; the rest was not compared");
  if (mismatches != 0 || refused != 0)
    throw std::runtime_error(fmt::format("{} outputs differ, {} spellings did not run", mismatches, refused));
}

}  // namespace

void diff_scalar(const ScalarDiff& options) {
  check(options);
  GpuOptions wanted;
  if (!options.target.empty()) wanted.target = &target(options.target);
  const std::unique_ptr<GpuRunner> gpu = open_gpus(wanted);
  const Target& target = wanted.target != nullptr ? *wanted.target : gpu->target();
  const ScalarSweep sweep = planned(selected_cases(target, options.forms), options);
  RunResult result = begun_result("diff --scalar", &target, options.result.shard, gpu.get());
  catch_interruptions();
  std::vector<ScalarFinding> findings;
  const auto start = std::chrono::steady_clock::now();
  {
    Progress progress(sweep.cases.size() * scalar_classes * sweep.count);
    findings = run_scalar_sweep(
        sweep, [&] { return open_scalar_gpu(target, assembled_version); },
        {.advanced = [&](std::uint64_t elements) { progress.advance(elements); }, .stop = [] { return interruption() != 0; }});
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  write(findings, options, result);
  print_table(findings);
  print_mismatches(findings);
  if (!options.record.empty() && interruption() == 0) write_file(options.record, {recording(findings, *gpu)});
  fail_if_wrong(findings, sweep, gpu->description());
}

}  // namespace warpmat
