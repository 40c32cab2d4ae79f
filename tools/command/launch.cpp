#include <fmt/format.h>
#include <fmt/ranges.h>
#include <warpmat/machine/check_list.h>
#include <warpmat/machine/launch.h>
#include <warpmat/ptx/program/code.h>
#include <warpmat/ptx/readable_name.h>

#include <algorithm>
#include <filesystem>
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
#include "tools/report/ptx_file.h"
#include "tools/report/split.h"

namespace warpmat {
namespace {

struct LaunchCommandOptions {
  LaunchFlags flags;
  std::string checks = usual_checks;
  std::vector<std::string> outs, profile;
  LaunchOptions launch;
  LabelOptions labels;
  std::string report, init;
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

void run_launch(const LaunchCommandOptions& options, const Command& command) {
  if (!options.init.empty()) return write_skeleton(options);
  LaunchDescription description = description_of(options.flags);
  for (const std::string& text : options.outs) parse_output(text, description.buffers);
  for (const LaunchBuffer& buffer : description.buffers)
    if (!buffer.out.empty()) check_output_place(buffer.out);
  ReadyLaunch ready = ready_launch(options.flags, std::move(description));
  const auto instructions = labelled(ready.kernel);
  const std::string_view target = ready.kernel.program().target->name;
  require_labels(options.labels, target, instructions);
  if (!options.report.empty()) check_output_place(options.report);
  check_profile_flag(options.profile);
  BankReport report;
  LaunchOptions launch_options = options.launch;
  launch_options.checks = parse_checks(without_banks(options.checks));
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
  const auto ran = labelled(ready.kernel, result);
  require_labels(options.labels, target, ran);
  for (const std::string& warning : result.warnings) fmt::print(stderr, "warpmat: warning: {}\n", warning);
  write_outputs(ready.description, ready.prepared);
  write_report(options.report, command, target, instructions, counts.counts());
  if (counts_banks(options.checks)) fmt::print(stderr, "{}", bank_table(report.lines()));
  report_profile(options.profile, command.name(), {{ready.kernel, 1, profile}});
  print_evidence(options.labels, target, ran, ready.assembler.empty() ? "" : "; sums from machine code of " + ready.assembler);
}

}  // namespace

void add_launch(Command app) {
  const auto options = std::make_shared<LaunchCommandOptions>();
  const Command command = app.add_subcommand("launch", "Execute a whole kernel: grid, blocks, warps, memory");
  add_launch_flags(command, options->flags);
  command.add_option("--out", options->outs, "NAME=FILE.npy[:TYPE[:SHAPE]]: write a buffer after the run; may be repeated")
      .allow_extra_args(false);
  command.add_option("--init", options->init, "Write a launch.json for the kernel, with its parameters to be filled in, and do not run it")
      .type_name("FILE.json");
  command.add_option("--jobs", options->launch.jobs, "Threads; 0: one for each core").range(0, 1024);
  command.add_option("--schedule", options->launch.schedule, "The seed of another order of warps and blocks; 0: in order");
  command
      .add_option(
          "--check", options->checks,
          "uninitialised, copies, races, lanes, fences, separated by commas; or all, or none. And banks: bank conflicts by line, to "
          "standard error")
      .capture_default_str();
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
