#include "diff_scalar.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <map>
#include <regex>
#include <stdexcept>
#include <thread>

#include "gpu/compare/scalar_sweep.h"
#include "gpu/cuda/gpu_runner.h"
#include "gpu/cuda/scalar_gpu.h"
#include "tools/library/interruption.h"
#include "tools/library/output_file.h"
#include "tools/library/progress.h"
#include "tools/library/table.h"

namespace warpmat {
namespace {

constexpr PtxVersion assembled_version{9, 0};  // the newest that CUDA 13.0 knows

std::vector<ScalarCase> selected_cases(const Target& target, const std::string& forms) {
  std::vector<ScalarCase> cases = scalar_cases(target, assembled_version);
  if (!forms.empty()) {
    const std::regex expression(forms);
    std::erase_if(cases, [&](const ScalarCase& c) { return !std::regex_search(c.opcode, expression); });
  }
  if (cases.empty()) throw std::invalid_argument(fmt::format("'{}' is found in no scalar opcode of {}", forms, target.name));
  return cases;
}

struct Totals {
  std::size_t spellings = 0;
  std::uint64_t outputs = 0, mismatches = 0;
};

/// Where stderr is no terminal, and so has no progress bar: a line there after each tenth of the spellings' classes.
class TenthLines {
 public:
  explicit TenthLines(std::size_t all) : all_(all) {}

  void add(const ScalarFinding& finding) {
    totals_.outputs += finding.outputs;
    totals_.mismatches += finding.mismatches;
    const std::size_t tenths = 10 * ++done_ / all_;
    if (isatty(STDERR_FILENO) == 0 && tenths != 10 * (done_ - 1) / all_)
      fmt::print(stderr, "{} of {} spellings and classes: {} outputs, {} mismatches\n", done_, all_, totals_.outputs, totals_.mismatches);
  }

  bool complete() const { return done_ == all_; }

 private:
  std::size_t all_, done_ = 0;
  Totals totals_;
};

/// One row a mnemonic.
void print_table(const std::vector<ScalarFinding>& findings) {
  std::map<std::string, Totals> by_mnemonic;
  for (const ScalarFinding& finding : findings) {
    Totals& totals = by_mnemonic[finding.title.substr(0, finding.title.find('.'))];
    totals.spellings += finding.operand_class == ScalarClass::random && (finding.outputs != 0 || !finding.error.empty());
    totals.outputs += finding.outputs;
    totals.mismatches += finding.mismatches;
  }
  Table table({"instruction", "spellings", "outputs", "mismatches"});
  for (const auto& [mnemonic, totals] : by_mnemonic)
    table.add({mnemonic, fmt::format("{}", totals.spellings), fmt::format("{}", totals.outputs), fmt::format("{}", totals.mismatches)});
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

/// "title<TAB>digest" of each case, behind lines that say where the answers come from.
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

}  // namespace

void diff_scalar(const std::string& target_name, const std::string& forms, std::size_t elements, const std::string& record) {
  if (!record.empty()) check_output_place(record);
  GpuOptions options;
  if (!target_name.empty()) options.target = &target(target_name);
  const std::unique_ptr<GpuRunner> gpu = open_gpus(options);
  const Target& target = target_name.empty() ? gpu->target() : warpmat::target(target_name);
  ScalarSweep sweep{selected_cases(target, forms), elements, std::max(1u, std::thread::hardware_concurrency())};
  std::vector<ScalarFinding> findings;
  TenthLines lines(sweep.cases.size() * scalar_classes);
  catch_interruptions();
  {
    Progress progress(sweep.cases.size() * scalar_classes);
    const auto found = [&](const ScalarFinding& finding) {
      progress.advance();
      lines.add(finding);
    };
    const auto open = [&] { return open_scalar_gpu(target, assembled_version); };
    findings = run_scalar_sweep(sweep, open, {.found = found, .stop = [] { return interruption() != 0; }});
  }
  print_table(findings);
  print_mismatches(findings);
  std::uint64_t outputs = 0, mismatches = 0, refused = 0;
  for (const ScalarFinding& finding : findings) {
    outputs += finding.outputs;
    mismatches += finding.mismatches;
    refused += !finding.error.empty() && finding.operand_class == ScalarClass::random;
  }
  fmt::print("{} spellings, {} outputs compared, {} mismatches, {} not run{}; {}\n", sweep.cases.size(), outputs, mismatches, refused,
             lines.complete() ? "" : "; incomplete", gpu->description());
  if (!lines.complete())
    throw_if_interrupted(fmt::format("{} outputs compared, {} mismatches; the rest was not compared", outputs, mismatches));
  if (!record.empty()) write_file(record, {recording(findings, *gpu)});
  if (mismatches != 0 || refused != 0)
    throw std::runtime_error(fmt::format("{} outputs differ, {} spellings did not run", mismatches, refused));
}

}  // namespace warpmat
