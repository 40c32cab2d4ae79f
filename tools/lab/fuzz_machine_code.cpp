#include "fuzz_machine_code.h"

#include <fmt/core.h>
#include <warpmat/machine_code/use.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <stdexcept>

#include "gpu/lab/kernels/kernel_program.h"
#include "gpu/runners/kernel_runner.h"
#include "tools/report/launch_files.h"
#include "tools/report/progress.h"

namespace warpmat {
namespace {

std::atomic<std::uint64_t> refused = 0;  ///< programs of which no code was made

std::unique_ptr<const code::MachineCode> compile(const code::Program& program, bool all_lanes) {
  auto made = chosen_program_compiler()(program, all_lanes);
  if (made == nullptr) ++refused;
  return made;
}

/// What the kernel leaves, compiled before its second block, or interpreted alone.
KernelAnswer run(const KernelLaunch& launch, const Target& target, bool compiles) {
  code::set_program_compiler(compiles ? compile : nullptr, code::CompileWhen::at_once);
  return EmulatorKernelRunner(target).run(launch);
}

}  // namespace

void fuzz_machine_code(const KernelFuzzOptions& options, const std::string& target_name) {
  if (chosen_program_compiler() == nullptr) throw std::runtime_error("no machine code here: this CPU has no AVX2, or the build no asmjit");
  const Target& own = target(target_name.empty() ? "sm_90a" : target_name);
  const Shard::Range part = share_of(options.result.shard, options.kernels, "kernels");
  RunResult result =
      begun_kernels("fuzz --kernels --machine-code", options, own, random_kernel(own, options.seed, 0, options.max_units).complete());
  std::uint64_t differing = 0;
  Progress progress(part.count);
  const auto start = std::chrono::steady_clock::now();
  std::uint64_t run_kernels = 0;
  for (; run_kernels < part.count && differing < options.enough; ++run_kernels, progress.advance()) {
    const std::uint64_t index = options.first + part.first + run_kernels;
    const KernelProgram kernel = random_kernel(own, options.seed, index, options.max_units);
    const auto differs = [&own](const KernelProgram& some) {
      const KernelLaunch launch = some.complete();
      return run(launch, own, false).buffers != run(launch, own, true).buffers;
    };
    if (!differs(kernel)) continue;
    const auto file = std::filesystem::path(options.keep) / fmt::format("warpmat_kernel_{}_{}.launch.json", options.seed, index);
    write_launch(file, shrink(kernel, differs).complete());
    fmt::print("seed {}, kernel {}: machine code differs; the shortest such kernel is {}\n", options.seed, index, file.string());
    ++differing;
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  result.seconds = seconds.count();
  result.columns = {"kernels", "differ"};
  result.rows = {{"kernels", {run_kernels, differing}}};
  if (run_kernels < part.count) end_early(result, "enough kernels differ");
  write_result(options.result.json, result);
  fmt::print("{} kernels of seed {} from {} on for {}: {} differ between the interpreter and machine code; {:.1f} s\n", run_kernels,
             options.seed, options.first + part.first, own.name, differing, seconds.count());
  if (refused != 0) throw std::runtime_error(fmt::format("no machine code was made of {} programs", refused.load()));
  if (differing != 0) throw std::runtime_error(fmt::format("{} kernels differ as machine code", differing));
}

}  // namespace warpmat
