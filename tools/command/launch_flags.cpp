#include "launch_flags.h"

#include <fmt/format.h>
#include <warpmat/ir/code.h>
#include <warpmat/machine/internals.h>
#include <warpmat/provenance/pointers.h>
#include <warpmat/ptx/syntax/module.h>
#include <warpmat/words/words.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <utility>

#include "tools/assembler/assembler.h"
#include "tools/report/ptx_file.h"

namespace warpmat {

void add_launch_flags(Command command, LaunchFlags& flags) {
  command.add_option("FILE", flags.file, "launch.json, or a .ptx or .cu file with the options below").required();
  command.add_option("--kernel", flags.kernel, "The kernel's name, as in C++ or in PTX; may be left out where there is one");
  command.add_option("--grid", flags.grid, "Blocks: X, X,Y or X,Y,Z; x may stand for the comma");
  command.add_option("--block", flags.block, "Threads of a block: X, X,Y or X,Y,Z");
  command.add_option("--cluster", flags.cluster, "Blocks of a cluster: X, X,Y or X,Y,Z");
  command.add_option("--shared-bytes", flags.shared_bytes, "Dynamic shared memory");
  command.add_option("--buffer", flags.buffers, "NAME=SOURCE: a buffer in global memory; may be repeated").allow_extra_args(false);
  command.add_option("--param", flags.params, "A parameter, in the entry's order: NAME[+OFFSET], TYPE:VALUE or bytes:HEX")
      .allow_extra_args(false);
  command.add_option("--target", flags.target, "The GPU to be, for example sm_90a; else the file's own .target");
  command.add_option("--fmad", flags.contract, "Whether unrounded mul and add become fma, as with ptxas").capture_default_str();
  command
      .add_option(
          "--assembler", flags.assembler,
          "ptxas: let the CUDA Toolkit's assembler say which sums become fma (docs/reference/assembler.md); rule: go by warpmat's rule")
      .one_of({"ptxas", "rule"});
}

namespace {

/// The description of a .ptx file and Triton's .json next to it, from the flags.
LaunchDescription described_by(const LaunchFlags& flags) {
  LaunchDescription description;
  description.ptx = flags.file;
  description.kernel = flags.kernel;
  if (!flags.grid.empty()) description.config.grid = parse_dim3(flags.grid, "grid");
  if (!flags.block.empty()) description.config.block = *(description.block = parse_dim3(flags.block, "block"));
  if (!flags.cluster.empty()) description.config.cluster = parse_dim3(flags.cluster, "cluster");
  description.config.shared_bytes = flags.shared_bytes;
  const std::filesystem::path beside = std::filesystem::path(flags.file).replace_extension(".json");
  if (std::filesystem::exists(beside)) fill_from_triton(beside, description);
  for (const std::string& text : flags.buffers) description.buffers.push_back(parse_buffer(text));
  for (const std::string& text : flags.params) description.parameters.push_back(parse_parameter(text, description.buffers));
  return description;
}

/// A Triton kernel has two parameters more than its signature: addresses of scratch memory. They are zero if the kernel needs none.
void add_scratch(LaunchDescription& description, std::size_t parameters) {
  const std::filesystem::path beside = std::filesystem::path(description.ptx).replace_extension(".json");
  if (!std::filesystem::exists(beside)) return;
  while (description.parameters.size() < parameters && parameters - description.parameters.size() <= 2)
    description.parameters.push_back({std::vector<std::uint8_t>(8), {}});
}

/// The block that an entry is compiled for, or one thread.
Dim3 compiled_block(const code::Limits& limits) {
  const std::int64_t* const required = limits.required_threads;
  if (required[0] <= 0) return {};
  return {static_cast<std::uint32_t>(required[0]), static_cast<std::uint32_t>(required[1]), static_cast<std::uint32_t>(required[2])};
}

/// Makes `kernel` the one that ptxas assembles, and says on standard error where the rule of docs/reference/assembler.md differs. Returns
/// what ptxas calls itself; empty where it is not installed, and the kernel stays as it is.
std::string use_ptxas(const Module& module, const std::string& entry, const KernelOptions& options, Kernel& kernel) {
  std::optional<AssembledKernel> made = kernel_by_ptxas(module, entry, options);
  if (!made) {
    fmt::print(stderr, "warpmat: {}\n", text_without_ptxas());
    return "";
  }
  for (const std::string& remark : made->remarks) fmt::print(stderr, "warpmat: {}\n", remark);
  kernel = std::move(made->kernel);
  return made->assembler;
}

}  // namespace

bool counts_banks(const std::string& checks) {
  return std::ranges::count(split(checks, ','), "banks") > 0;
}

std::string without_banks(const std::string& checks) {
  std::vector<std::string_view> kept = split(checks, ',');
  std::erase(kept, "banks");
  return kept.empty() ? "none" : fmt::format("{}", fmt::join(kept, ","));
}

LaunchDescription description_of(const LaunchFlags& flags) {
  if (!flags.file.ends_with(".json")) return described_by(flags);
  if (!flags.kernel.empty() || !flags.grid.empty() || !flags.block.empty() || !flags.cluster.empty() || !flags.buffers.empty() ||
      !flags.params.empty())
    throw std::runtime_error(
        "a launch description has kernel, grid, block, buffers and parameters of its own: those options are for a .ptx file");
  return read_launch(flags.file);
}

ReadyLaunch ready_launch(const LaunchFlags& flags, LaunchDescription description, const Limits& limits) {
  description.most_bytes = limits.memory;
  const ModuleFile file = read_module(description.ptx, flags.target);
  const std::string entry = entry_name(file.module, description.kernel, description.ptx);
  const std::string& asked = flags.assembler.empty() ? description.assembler : flags.assembler;
  KernelOptions options{.target = flags.target,
                        .contract = flags.contract,
                        .assembler_options = description.assembler_options,
                        .keep_registers = flags.keep_registers};
  if (asked.empty() && description.decisions) options.decisions = &*description.decisions;
  Kernel kernel = read_kernel(file, entry, options);
  std::string assembler = program_of(kernel).assembler;
  if (asked == "ptxas" && flags.contract) assembler = use_ptxas(file.module, entry, options, kernel);
  add_scratch(description, program_of(kernel).parameters.size());
  return ready_launch(std::move(kernel), std::move(description), std::move(assembler));
}

ReadyLaunch ready_launch(Kernel kernel, LaunchDescription description, std::string assembler) {
  check_arguments(description, program_of(kernel));
  if (!description.block) description.config.block = compiled_block(program_of(kernel).limits);
  PreparedLaunch prepared = prepare(description, kernel);
  return {std::move(kernel), std::move(description), std::move(prepared), std::move(assembler), {}};
}

namespace {

ProductLaunch run(ReadyLaunch& ready, const ProductRequest& asked, LaunchOptions options) {
  options.most_block_bytes = ready.description.most_bytes;
  return launch_products(ready.kernel, ready.description.config, ready.prepared.memory, ready.prepared.arguments, asked, options);
}

/// What is read before it is written may be a missing barrier: without the check of such values another order of the warps shows the race.
std::optional<Trap> race_behind(ReadyLaunch& ready, LaunchOptions options) {
  options.checks.uninitialised = false;
  options.observers.clear();
  ready.prepared = prepare(ready.description, ready.kernel);
  try {
    run(ready, ready.asked, options);
  } catch (const Trap& trap) {
    if (trap.kind == Trap::Kind::unordered) return trap;
  }
  return std::nullopt;
}

ProductLaunch run_for_cause(ReadyLaunch& ready, const LaunchOptions& options) {
  try {
    return run(ready, ready.asked, options);
  } catch (const Trap& trap) {
    if (trap.kind == Trap::Kind::unwritten && options.checks.races)
      if (const auto race = race_behind(ready, options)) {
        Trap::Reason reason = race->parts;
        reason.notes.push_back({"in another order of the warps " + trap.parts.headline});
        throw race->because(reason);
      }
    throw;
  }
}

}  // namespace

ProductLaunch launch(ReadyLaunch& ready, const LaunchOptions& options) {
  try {
    return run_for_cause(ready, options);
  } catch (const Trap& trap) {
    if (ready.description.block || ready.description.config.block.count() != 1) throw;
    Trap::Reason reason = trap.parts;
    reason.notes.push_back({"--block was not given (\"block\" in launch.json), so each block has one thread"});
    throw trap.because(reason);
  }
}

Guess guess_product(ReadyLaunch& ready, const LaunchOptions& options, bool errs) {
  Guesser guesser(ready.kernel, ready.description.config, ready.prepared.memory, ready.prepared.arguments);
  LaunchOptions followed = options;
  followed.checks = {.uninitialised = false, .copies = false, .global = false};
  followed.observers.clear();
  followed.observers_of_clusters.clear();
  guesser.observe(followed);
  bool ended = true;
  try {
    run(ready, {}, followed);
  } catch (const Trap&) {
    if (options.stop != nullptr && *options.stop) throw;
    ended = false;
  }
  Guess guess = guesser.result(errs && ended);
  if (!ended) guess.findings.clear();  // what is not done may come behind the trap
  ready.prepared = prepare(ready.description, ready.kernel);
  return guess;
}

namespace {

/// An element of a product's result for --why: the one that the headline names, or the first.
std::string element_of(const std::vector<MatrixProduct>& products, std::string_view headline) {
  std::string first;
  for (const MatrixProduct& product : products) {
    const auto number = provenance::pointer_number(product.c.name);
    const std::string name = number ? provenance::pointer_name(*number) : product.c.name;
    if (const std::size_t found = headline.find(name + '['); found != std::string_view::npos)
      return std::string(headline.substr(found, headline.find(']', found) + 1 - found));
    if (first.empty()) first = name + (product.convolution ? "[0,0,0,0]" : "[0,0]");
  }
  return first;
}

}  // namespace

Report report_of(const ReadyLaunch& ready, const Trap& trap, Report::Level level) {
  Report report = report_of(trap, level);
  if (trap.kind == Trap::Kind::mispaired && report.help.empty())
    report.help = fmt::format("--why '{}' shows every product of an element, and its way", element_of(ready.asked.products, report.text));
  if (ready.description.ptx.extension() == ".ptx") report.ptx_file = ready.description.ptx.string();
  return report;
}

std::string_view ptx_of(const ReadyLaunch& ready) {
  return *program_of(ready.kernel).module->text;
}

}  // namespace warpmat
