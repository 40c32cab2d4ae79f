#include <fmt/format.h>
#include <warpmat/machine/launch.h>
#include <warpmat/ptx/program/code.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "commands.h"
#include "tools/library/check_list.h"
#include "tools/library/evidence_line.h"
#include "tools/library/execution_flags.h"
#include "tools/library/label_flags.h"
#include "tools/library/launch_description.h"
#include "tools/library/ptx_file.h"

namespace warpmat {
namespace {

struct Options {
  std::string file, kernel, grid, block, cluster, target, checks = "uninitialised,copies";
  std::vector<std::string> buffers, params, outs;
  std::uint32_t shared_bytes = 0;
  bool contract = true;
  LaunchOptions launch;
  LabelOptions labels;
};

/// The description that the options make of a .ptx file, and of Triton's .json beside it.
LaunchDescription described_by(const Options& options) {
  LaunchDescription description;
  description.ptx = options.file;
  description.kernel = options.kernel;
  if (!options.grid.empty()) description.config.grid = parse_dim3(options.grid, "grid");
  if (!options.block.empty()) description.config.block = parse_dim3(options.block, "block");
  if (!options.cluster.empty()) description.config.cluster = parse_dim3(options.cluster, "cluster");
  description.config.shared_bytes = options.shared_bytes;
  const std::filesystem::path beside = std::filesystem::path(options.file).replace_extension(".json");
  if (std::filesystem::exists(beside)) fill_from_triton(beside, description);
  for (const std::string& text : options.buffers) description.buffers.push_back(parse_buffer(text));
  for (const std::string& text : options.params) description.parameters.push_back(parse_parameter(text, description.buffers));
  return description;
}

LaunchDescription description_of(const Options& options) {
  if (!options.file.ends_with(".json")) {
    LaunchDescription description = described_by(options);
    for (const std::string& text : options.outs) parse_output(text, description.buffers);
    return description;
  }
  if (!options.kernel.empty() || !options.grid.empty() || !options.block.empty() || !options.cluster.empty() || !options.buffers.empty() ||
      !options.params.empty())
    throw std::runtime_error(
        "a launch description has kernel, grid, block, buffers and parameters of its own: those options are for a .ptx file");
  LaunchDescription description = read_launch(options.file);
  for (const std::string& text : options.outs) parse_output(text, description.buffers);
  for (const LaunchBuffer& buffer : description.buffers)
    if (!buffer.out.empty()) check_output_place(buffer.out);
  return description;
}

/// A kernel of Triton's takes two addresses more than its signature says, of scratch memory; what needs none gets zeros.
void add_scratch(LaunchDescription& description, std::size_t parameters) {
  const std::filesystem::path beside = std::filesystem::path(description.ptx).replace_extension(".json");
  if (!std::filesystem::exists(beside)) return;
  while (description.parameters.size() < parameters && parameters - description.parameters.size() <= 2)
    description.parameters.push_back({std::vector<std::uint8_t>(8), {}});
}

void run_launch(const Options& options) {
  LaunchDescription description = description_of(options);
  const Module module(read_ptx(description.ptx));
  const std::string entry = description.kernel.empty() ? only_entry(module, description.ptx) : description.kernel;
  const Kernel kernel(module, entry, {.target = options.target, .contract = options.contract});
  const auto instructions = labelled(kernel);
  require_labels(options.labels, kernel.program().target->name, instructions);
  add_scratch(description, kernel.program().parameters.size());
  PreparedLaunch prepared = prepare(description);
  LaunchOptions launch_options = options.launch;
  launch_options.checks = parse_checks(options.checks);
  const LaunchResult result = launch(kernel, description.config, prepared.memory, prepared.arguments, launch_options);
  fmt::print("{}", result.printed);
  for (const std::string& warning : result.warnings) fmt::print(stderr, "warpmat: warning: {}\n", warning);
  write_outputs(description, prepared);
  print_evidence(options.labels, kernel.program().target->name, instructions);
}

}  // namespace

void add_launch(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("launch", "Execute a whole kernel: grid, blocks, warps, memory");
  command->add_option("FILE", options->file, "launch.json, or a .ptx file with the options below")->required();
  command->add_option("--kernel", options->kernel, "The entry's name; may be left out where there is one");
  command->add_option("--grid", options->grid, "Blocks: X, X,Y or X,Y,Z");
  command->add_option("--block", options->block, "Threads of a block: X, X,Y or X,Y,Z");
  command->add_option("--cluster", options->cluster, "Blocks of a cluster: X, X,Y or X,Y,Z");
  command->add_option("--shared-bytes", options->shared_bytes, "Dynamic shared memory");
  command->add_option("--buffer", options->buffers, "NAME=SOURCE: a buffer in global memory; may be repeated")->allow_extra_args(false);
  command->add_option("--param", options->params, "A parameter, in the entry's order: NAME[+OFFSET], TYPE:VALUE or bytes:HEX")
      ->allow_extra_args(false);
  command->add_option("--out", options->outs, "NAME=FILE.npy[:TYPE[:SHAPE]]: write a buffer after the run; may be repeated")
      ->allow_extra_args(false);
  command->add_option("--target", options->target, "The GPU to be, for example sm_90a; else the file's own .target");
  command->add_option("--jobs", options->launch.jobs, "Threads; 0: one for each core")->check(CLI::Range(0, 1024));
  command->add_option("--schedule", options->launch.schedule, "The seed of another order of warps and blocks; 0: in order");
  command->add_option("--check", options->checks, "uninitialised, copies, races, fences, separated by commas; or all, or none")
      ->capture_default_str();
  command->add_option("--fmad", options->contract, "Whether unrounded mul and add become fma, as ptxas has it")->capture_default_str();
  add_execution_flags(*command, options->launch.execution);
  add_label_flags(*command, options->labels);
  command->footer(
      "A SOURCE is FILE.npy (of any type: its bytes), zeros:BYTES, fill:BYTES:VALUE, random:BYTES[:SEED] or random:FORMAT:COUNT[:SEED].\n"
      "What the kernel prints goes to standard output. A launch.json has the same as a file: docs/launch.md. Triton's .json beside a .ptx "
      "file\n"
      "fills in the kernel's name, its threads and its shared memory.\n"
      "\n"
      "Examples:\n"
      "  warpmat launch launch.json --jobs 0\n"
      "  warpmat launch saxpy.ptx --target sm_90 --grid 8 --block 128 --buffer x=x.npy --buffer y=zeros:4000 \\\n"
      "                 --param s32:1000 --param f32:2.5 --param x --param y --out y=y.npy:float32");
  command->callback([options] { run_launch(*options); });
}

}  // namespace warpmat
