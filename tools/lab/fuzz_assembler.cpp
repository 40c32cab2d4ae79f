#include "fuzz_assembler.h"

#include <fmt/core.h>
#include <warpmat/machine/internals.h>
#include <warpmat/ptx/program/code.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <stdexcept>

#include "gpu/cases/kernel_program.h"
#include "tools/assembler/assembler.h"
#include "tools/report/launch_files.h"
#include "tools/report/progress.h"

namespace warpmat {
namespace {

/// What all kernels of a run have shown.
struct Counts {
  std::uint64_t kernels = 0, sums = 0, fused = 0, mixed = 0, differing = 0, open = 0, unsure = 0;
};

/// Why machine code leaves a sum to the rule.
const char* reason(const SumsInCode& code, Location sum) {
  const auto is_in = [&](const std::vector<Location>& all) {
    return std::ranges::any_of(all, [&](const Location& l) { return l.line == sum.line && l.column == sum.column; });
  };
  if (is_in(code.mixed)) return "fused in one copy and rounded in another";
  return is_in(code.absent) ? "without an instruction of its own" : "fused with a product that is not found";
}

/// The statements of `launch` about which rule and machine code differ, or which machine code leaves to the rule, a line each.
std::string differences(const KernelLaunch& launch, const std::filesystem::path& ptxas, const Target& target, Counts& counts) {
  const Module module(launch.ptx);
  const SumsInCode code = sums_by_ptxas(ptxas, module, launch.entry, target.name);
  const Kernel kernel(module, launch.entry, {.target = target.name, .sums = &code.sums});
  const code::Program& program = program_of(kernel);
  ++counts.kernels;
  counts.sums += code.sums.size();
  counts.mixed += code.mixed.size();
  counts.fused += static_cast<std::uint64_t>(std::ranges::count(code.sums, true, &SumInCode::fused));
  counts.differing += !program.contraction_differs.empty();
  std::string text;
  for (const std::uint32_t differs : program.contraction_differs)
    text += fmt::format("  line {}: {}\n", program.statements[differs]->location.line, program.statements[differs]->opcode);
  counts.open += !program.contraction_open.empty();
  counts.unsure += !program.contraction_open.empty() || !program.contraction_inferred.empty() || !program.doubted.empty();
  for (const std::uint32_t open : program.contraction_open)
    text += fmt::format("  line {}: {}: {}\n", program.statements[open]->location.line, program.statements[open]->opcode,
                        reason(code, program.statements[open]->location));
  return text;
}

}  // namespace

void fuzz_assembler(const KernelFuzzOptions& options, const std::string& target_name) {
  const auto ptxas = find_ptxas();
  if (!ptxas) throw std::runtime_error("no ptxas in PATH, CUDA_HOME, CUDA_PATH or /usr/local/cuda: install the CUDA Toolkit's assembler");
  const Target& own = target(target_name.empty() ? "sm_90a" : target_name);
  const Shard::Range part = options.shard.of(options.kernels);
  Counts counts;
  Progress progress(part.count);
  const auto start = std::chrono::steady_clock::now();
  for (std::uint64_t i = 0; i < part.count; ++i, progress.advance()) {
    const std::uint64_t index = options.first + part.first + i;
    const KernelLaunch launch = random_kernel(own, options.seed, index, options.max_units).complete();
    const std::string text = differences(launch, *ptxas, own, counts);
    if (text.empty()) continue;
    const auto file = std::filesystem::path(options.keep) / fmt::format("warpmat_kernel_{}_{}.launch.json", options.seed, index);
    write_launch(file, launch);
    fmt::print("seed {}, kernel {} ({}): rule and machine code differ, or the rule decides, in\n{}", options.seed, index, file.string(),
               text);
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  fmt::print(
      "{} kernels from {} on for {} by {}: {} sums in machine code, {} of them fused, {} fused in one copy alone; {} kernels differ, {} "
      "have sums that are left to the rule; {} have such or others in doubt; {:.1f} s\n",
      counts.kernels, options.first + part.first, own.name, version_of(*ptxas), counts.sums, counts.fused, counts.mixed, counts.differing,
      counts.open, counts.unsure, seconds.count());
  if (counts.differing != 0) throw std::runtime_error(fmt::format("{} kernels differ between the rule and machine code", counts.differing));
}

}  // namespace warpmat
