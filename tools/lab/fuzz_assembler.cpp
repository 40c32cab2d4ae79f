#include "fuzz_assembler.h"

#include <fmt/core.h>
#include <warpmat/assembler.h>
#include <warpmat/assembler/ptxas.h>
#include <warpmat/ir/code.h>
#include <warpmat/machine/internals.h>
#include <warpmat/ptx/syntax/module.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <stdexcept>

#include "gpu/lab/kernels/kernel_program.h"
#include "tools/report/launch_files.h"
#include "tools/report/progress.h"

namespace warpmat {
namespace {

/// What all kernels of a run have shown.
struct Counts {
  std::uint64_t kernels = 0, sums = 0, fused = 0, differing = 0, open = 0, unsure = 0;
};

/// The statements of `launch` about which rule and machine code differ, or which machine code leaves to the rule, a line each.
std::string differences(const KernelLaunch& launch, const Target& target, Counts& counts) {
  const Module module(launch.ptx);
  const AssemblerDecisions decisions = *ask_ptxas(module, launch.entry, {.target = target.name});
  const Kernel kernel(module, launch.entry, {.target = target.name, .decisions = &decisions});
  const code::Program& program = program_of(kernel);
  ++counts.kernels;
  counts.sums += decisions.sums.size();
  counts.fused += static_cast<std::uint64_t>(std::ranges::count(decisions.sums, true, &AssemblerDecisions::Sum::fused));
  counts.differing += !program.differs.empty();
  counts.unsure += !program.doubted.empty();
  std::string text;
  for (const std::uint32_t differs : program.differs)
    text += fmt::format("  line {}: {}\n", program.statements[differs]->location.line, program.statements[differs]->opcode);
  bool open = false;
  for (const code::Doubt& doubt : program.doubted) {
    if (doubt.why != code::Doubt::Why::sum_open) continue;
    open = true;
    text += fmt::format("  line {}: {}: left to the rule\n", program.statements[doubt.statement]->location.line,
                        program.statements[doubt.statement]->opcode);
  }
  counts.open += open;
  return text;
}

}  // namespace

void fuzz_assembler(const KernelFuzzOptions& options, const std::string& target_name) {
  const auto ptxas = find_ptxas();
  if (!ptxas) throw std::runtime_error(fmt::format("{}: install the CUDA Toolkit's assembler", no_ptxas));
  const Target& own = target(target_name.empty() ? "sm_90a" : target_name);
  const Shard::Range part = share_of(options.result.shard, options.kernels, "kernels");
  RunResult result = begun_kernels("fuzz --kernels --assembler", options, own,
                                   random_kernel(own, options.seed, 0, options.max_units, DrawnSums::plain).complete());
  result.settings.emplace_back("assembler", version_of(*ptxas));
  Counts counts;
  Progress progress(part.count);
  const auto start = std::chrono::steady_clock::now();
  for (std::uint64_t i = 0; i < part.count; ++i, progress.advance()) {
    const std::uint64_t index = options.first + part.first + i;
    const KernelLaunch launch = random_kernel(own, options.seed, index, options.max_units, DrawnSums::plain).complete();
    const std::string text = differences(launch, own, counts);
    if (text.empty()) continue;
    const auto file = std::filesystem::path(options.keep) / fmt::format("warpmat_kernel_{}_{}.launch.json", options.seed, index);
    write_launch(file, launch);
    fmt::print("seed {}, kernel {} ({}): rule and machine code differ, or the rule decides, in\n{}", options.seed, index, file.string(),
               text);
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  result.seconds = seconds.count();
  result.columns = {"kernels", "sums", "fused", "left to the rule", "in doubt", "differ"};
  result.rows = {{"kernels", {counts.kernels, counts.sums, counts.fused, counts.open, counts.unsure, counts.differing}}};
  write_result(options.result.json, result);
  fmt::print(
      "{} kernels from {} on for {} by {}: {} sums in machine code, {} of them fused; {} kernels differ, {} "
      "have sums that are left to the rule; {} have such or others in doubt; {:.1f} s\n",
      counts.kernels, options.first + part.first, own.name, version_of(*ptxas), counts.sums, counts.fused, counts.differing, counts.open,
      counts.unsure, seconds.count());
  if (counts.differing != 0) throw std::runtime_error(fmt::format("{} kernels differ between the rule and machine code", counts.differing));
}

}  // namespace warpmat
