#include <fmt/format.h>
#include <fmt/ranges.h>
#include <warpmat/machine/check_list.h>
#include <warpmat/machine/launch.h>
#include <warpmat/ptx/program/code.h>
#include <warpmat/ptx/readable_name.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "commands.h"
#include "launch_flags.h"
#include "profile_flag.h"
#include "run_report.h"
#include "tools/command_line/execution_flags.h"
#include "tools/command_line/label_flags.h"
#include "tools/report/bank_report.h"
#include "tools/report/evidence_line.h"
#include "tools/report/launch_skeleton.h"
#include "tools/report/output_file.h"
#include "tools/report/probe.h"
#include "tools/report/ptx_file.h"
#include "tools/report/split.h"
#include "why.h"

namespace warpmat {
namespace {

struct LaunchCommandOptions {
  LaunchFlags flags;
  std::string checks;  ///< empty: the usual ones, and races in a launch that is not large
  std::vector<std::string> outs, expected, profile;
  LaunchOptions launch;
  LabelOptions labels;
  std::string report, init, probe, why_files;
};

/// Whether the list of checks includes bank conflicts. They are a report, not a check that traps.
bool counts_banks(const std::string& checks) {
  return std::ranges::count(split(checks, ','), "banks") > 0;
}

std::string without_banks(const std::string& checks) {
  std::vector<std::string> kept = split(checks, ',');
  std::erase(kept, "banks");
  return kept.empty() ? "none" : fmt::format("{}", fmt::join(kept, ","));
}

constexpr std::uint64_t most_threads_for_races = 16'384;  ///< a race check takes up to six times as long as the launch

/// The checks of a launch: those that --check says, else the usual ones. Says where races are left out.
Checks checks_of(const LaunchCommandOptions& options, const ReadyLaunch& ready) {
  if (!options.checks.empty()) return parse_checks(without_banks(options.checks));
  Checks checks = parse_checks(usual_checks);
  const std::uint64_t threads = ready.description.config.grid.count() * ready.description.config.block.count();
  checks.races = threads <= most_threads_for_races;
  if (!checks.races && !options.labels.quiet)
    fmt::print(stderr, "warpmat: races were not looked for: the launch has {} threads, more than {}; --check {},races looks for them\n",
               threads, most_threads_for_races, usual_checks);
  return checks;
}

/// The C++ name of an entry without types where that says which one it is, else the whole name.
std::string shortest_name(const Module& module, const std::string& entry) try {
  return entry_name(module, readable_name(entry), "") == entry ? readable_name(entry) : entry;
} catch (const std::exception&) {  // several have it
  return entry;
}

/// Writes a launch.json for the kernel of --init FILE.ptx: what the options say is left out.
void write_skeleton(const LaunchCommandOptions& options) {
  if (options.flags.file.ends_with(".json")) throw std::runtime_error("--init writes a launch.json for the kernel of a .ptx or .cu file");
  if (std::filesystem::exists(options.init)) throw std::runtime_error(fmt::format("--init {}: the file is there already", options.init));
  const ModuleFile file = read_module(options.flags.file, options.flags.target);
  const std::string entry = entry_name(file.module, options.flags.kernel, options.flags.file), name = shortest_name(file.module, entry);
  const Kernel kernel = read_kernel(file, entry, {.target = options.flags.target});
  const std::filesystem::path folder = std::filesystem::absolute(options.init).parent_path();
  const std::filesystem::path ptx = std::filesystem::relative(std::filesystem::absolute(options.flags.file), folder);
  write_file(options.init, {launch_skeleton(ptx, name, kernel.program())});
  fmt::print("{}: the launch of '{}'; fill in sizes and numbers, then: warpmat launch {}\n", options.init, name, options.init);
}

/// What to do about a wrong buffer. A diagnosis by a second run is asked for here.
std::string next_step(const BufferExpectation& expectation, const MatrixDifference& difference) {
  const std::vector<std::size_t>& shape = expectation.expected.shape;
  const std::string& name = expectation.buffer->name;
  if (shape.size() != 2) return "";
  const std::string product = fmt::format("'{}=A*B^T:{}x{}xK'", name, shape[0], shape[1]);
  return fmt::format(
      "next, of a product of matrices: the same command with --gemm {0} reports the first wrong product with its lines, and with --why\n"
      "'{1}[{2}]' where this element comes from; --probe {0} shows which elements meet\n",
      product, name, fmt::join(difference.first, ","));
}

/// Compares the buffers of --expect, and says the result to standard error. Returns whether all are as expected.
bool as_expected(const LaunchCommandOptions& options, const ReadyLaunch& ready, const std::vector<BufferExpectation>& expectations) {
  bool right = true;
  for (const BufferExpectation& expectation : expectations) {
    const MatrixDifference difference = compare(expectation, ready.prepared);
    if (difference.wrong != 0) {
      right = false;
      fmt::print(stderr, "{}{}", difference.text, next_step(expectation, difference));
    } else if (!options.labels.quiet) {
      fmt::print(stderr, "warpmat: {} is as expected: {} elements\n", expectation.buffer->name, difference.elements);
    }
  }
  return right;
}

/// Runs the kernel of a product with numbers and identities in its buffers, and says which elements met.
void run_probe(const LaunchCommandOptions& options) {
  ReadyLaunch ready = ready_launch(options.flags, description_of(options.flags));
  LaunchOptions launch_options = options.launch;
  launch_options.checks = checks_of(options, ready);
  const Probe probed = parse_probe(options.probe, ready.description, ready.prepared);
  const ProbeResult result = probe(probed, [&](const std::map<std::string, std::vector<std::uint8_t>>& contents) {
    ready.prepared = prepare(ready.description);
    DeviceMemory& memory = ready.prepared.memory;
    for (const auto& content : contents)
      std::ranges::copy(content.second, memory.bytes(ready.prepared.addresses.at(content.first), content.second.size()).begin());
    launch(ready, launch_options);
    const auto c = memory.bytes(ready.prepared.addresses.at(probed.c.buffer), ready.prepared.sizes.at(probed.c.buffer));
    return std::vector<std::uint8_t>(c.begin(), c.end());
  });
  fmt::print("{}", result.text);
  if (!result.right) exit_with(1);
}

void run_launch(const LaunchCommandOptions& options, const Command& command) {
  if (!options.init.empty()) return write_skeleton(options);
  if (!options.probe.empty()) return run_probe(options);
  LaunchDescription description = description_of(options.flags);
  for (const std::string& text : options.outs) parse_output(text, description.buffers);
  for (const std::string& text : options.expected) parse_expectation(text, description.buffers);
  for (const LaunchBuffer& buffer : description.buffers)
    if (!buffer.out.empty()) check_output_place(buffer.out);
  ReadyLaunch ready = ready_launch(options.flags, std::move(description));
  const std::vector<BufferExpectation> expectations = read_expectations(ready.description, ready.prepared);
  const auto instructions = labelled(ready.kernel);
  const std::string_view target = ready.kernel.program().target->name;
  require_labels(options.labels, target, instructions);
  if (!options.report.empty()) check_output_place(options.report);
  check_profile_flag(options.profile);
  BankReport report;
  LaunchOptions launch_options = options.launch;
  if (launch_options.gemm.empty()) launch_options.gemm = ready.description.gemm;
  launch_options.checks = checks_of(options, ready);
  OpcodeCounts counts;
  if (counts_banks(options.checks)) launch_options.observers.push_back(&report);
  if (!options.report.empty()) launch_options.observers.push_back(&counts);
  std::optional<Profiler> profiler;
  if (!options.profile.empty()) {
    profiler.emplace(ready.kernel);
    launch_options.observer_of_cluster = [&profiler](std::uint64_t) { return profiler->observer(); };
  }
  const LaunchResult result = launch(ready, launch_options);
  const Profile profile = profiler ? profiler->result() : Profile{};
  fmt::print("{}", result.printed);
  for (const Why& why : result.why) print_why(why, options.why_files, target);
  if (!launch_options.why.empty() && result.why.empty()) fmt::print("no block stores {}\n", launch_options.why);
  const auto ran = labelled(ready.kernel, result);
  require_labels(options.labels, target, ran);
  for (const std::string& warning : result.warnings) fmt::print(stderr, "warpmat: warning: {}\n", warning);
  write_outputs(ready.description, ready.prepared);
  write_report(options.report, command, target, instructions, counts.counts());
  if (counts_banks(options.checks)) fmt::print(stderr, "{}", bank_table(report.lines()));
  report_profile(options.profile, command.name(), {{ready.kernel, 1, profile}});
  print_evidence(options.labels, target, ran, ready.assembler.empty() ? "" : "; sums from machine code of " + ready.assembler);
  if (!as_expected(options, ready, expectations)) exit_with(1);
}

}  // namespace

void add_launch(Command app) {
  const auto options = std::make_shared<LaunchCommandOptions>();
  const Command command = app.add_subcommand("launch", "Execute a whole kernel: grid, blocks, warps, memory");
  add_launch_flags(command, options->flags);
  command.add_option("--out", options->outs, "NAME=FILE.npy[:TYPE[:SHAPE]]: write a buffer after the run; may be repeated")
      .allow_extra_args(false);
  command
      .add_option("--expect", options->expected,
                  "NAME=FILE[:TYPE][:SHAPE][:TOLERANCE]: compare a buffer after the run, and end with status 1 where it differs: "
                  "C=C.npy:f32:128x128:2ulp; may be repeated")
      .allow_extra_args(false);
  command
      .add_option(
          "--probe", options->probe,
          "C=A*B^T:MxNxK: launch with numbers in A and the identity in B, and the other way round, and say which elements the product "
          "reads in the place of which. A:bf16 says a type that the buffer does not")
      .type_name("PRODUCT");
  command.add_option("--init", options->init, "Write a launch.json for the kernel, with its parameters to be filled in, and do not run it")
      .type_name("FILE.json");
  command.add_option("--jobs", options->launch.jobs, "Threads; 0: one for each core").range(0, 1024);
  command.add_option("--gemm", options->launch.gemm,
                     "C=A*B^T:128x128x64: what the kernel computes. Each product of a matrix instruction is held against it, and the first "
                     "wrong one is reported with the lines of both sides; no expected values are needed. ^T: columns are contiguous");
  command.add_option("--why", options->launch.why,
                     "C[5,3]: where this element of the product of --gemm comes from: its stores, products and factors");
  command
      .add_option("--why-files", options->why_files,
                  "With --why: write the operands of its products to NAME.a.npy, NAME.b.npy and NAME.c.npy, for warpmat explain")
      .type_name("NAME");
  command.add_option("--schedule", options->launch.schedule, "The seed of another order of warps and blocks; 0: in order");
  command.add_option(
      "--check", options->checks,
      "uninitialised, copies, races, lanes, fences, separated by commas; or all, or none. Default: uninitialised, copies, and races where "
      "the launch has at most 16,384 threads. And banks: bank conflicts by line, to standard error");
  add_execution_flags(command, options->launch.execution);
  add_label_flags(command, options->labels);
  add_report_option(command, options->report);
  add_profile_flag(command, options->profile);
  command.footer(
      "A SOURCE is FILE.npy (of any type: its bytes), zeros:BYTES, fill:BYTES:VALUE, random:BYTES[:SEED] or random:FORMAT:COUNT[:SEED].\n"
      "A .cu file is compiled by nvcc for --target, sm_90a where there is none; NVCC_APPEND_FLAGS adds nvcc's options, CUDACXX names "
      "another nvcc.\n"
      "What the kernel prints goes to standard output. A launch.json has the same as a file: docs/launch.md. Triton's .json beside a .ptx "
      "file\n"
      "fills in the kernel's name, its threads and its shared memory.\n"
      "\n"
      "Examples:\n"
      "  warpmat launch launch.json --jobs 0\n"
      "  warpmat launch gemm.cu --kernel gemm --init launch.json\n"
      "  warpmat launch launch.json --profile --profile=gemm.folded\n"
      "  warpmat launch saxpy.ptx --target sm_90 --grid 8 --block 128 --buffer x=x.npy --buffer y=zeros:4000 \\\n"
      "                 --param s32:1000 --param f32:2.5 --param x --param y --out y=y.npy:float32");
  command.callback([options, command] { run_launch(*options, command); });
}

}  // namespace warpmat
