#include "fuzz_machine_code.h"

#include <fmt/core.h>
#include <warpmat/machine_code/use.h>

#include <chrono>
#include <filesystem>
#include <stdexcept>

#include "gpu/lab/kernels/kernel_program.h"
#include "gpu/runners/kernel_runner.h"
#include "tools/report/launch_files.h"
#include "tools/report/progress.h"

namespace warpmat {
namespace {

/// What the kernel leaves, compiled before its second block, or interpreted alone.
KernelAnswer run(const KernelLaunch& launch, const Target& target, bool compiles) {
  if (compiles)
    use_machine_code(code::CompileWhen::at_once);
  else
    code::set_program_compiler(nullptr);
  return EmulatorKernelRunner(target).run(launch);
}

}  // namespace

void fuzz_machine_code(const KernelFuzzOptions& options, const std::string& target_name) {
  const Target& own = target(target_name.empty() ? "sm_90a" : target_name);
  const Shard::Range part = options.shard.of(options.kernels);
  std::uint64_t differing = 0;
  Progress progress(part.count);
  const auto start = std::chrono::steady_clock::now();
  for (std::uint64_t i = 0; i < part.count; ++i, progress.advance()) {
    const std::uint64_t index = options.first + part.first + i;
    const KernelProgram kernel = random_kernel(own, options.seed, index, options.max_units);
    const auto differs = [&own](const KernelProgram& some) {
      const KernelLaunch launch = some.complete();
      return run(launch, own, false).buffers != run(launch, own, true).buffers;
    };
    if (!differs(kernel)) continue;
    const auto file = std::filesystem::path(options.keep) / fmt::format("warpmat_kernel_{}_{}.launch.json", options.seed, index);
    write_launch(file, shrink(kernel, differs).complete());
    fmt::print("seed {}, kernel {}: machine code differs; the shortest such kernel is {}\n", options.seed, index, file.string());
    if (++differing == options.enough) break;
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  fmt::print("{} kernels of seed {} from {} on for {}: {} differ between the interpreter and machine code; {:.1f} s\n", part.count,
             options.seed, options.first + part.first, own.name, differing, seconds.count());
  if (differing != 0) throw std::runtime_error(fmt::format("{} kernels differ as machine code", differing));
}

}  // namespace warpmat
