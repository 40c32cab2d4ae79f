#include "diff_launch.h"

#include <fmt/core.h>

#include <stdexcept>

#include "gpu/compare/compare_kernels.h"
#include "gpu/cuda/gpu_runner.h"
#include "gpu/cuda/kernel_gpu.h"
#include "tools/report/launch_description.h"

namespace warpmat {
namespace {

constexpr std::size_t max_differences = 10;

void print_differences(const KernelLaunch& launch, const KernelComparison& comparison, const KernelAnswer& expected,
                       const KernelAnswer& found) {
  for (const ByteDifference& d : comparison.differences)
    fmt::print("buffer {}, byte {}: emulator {:#04x}, GPU {:#04x}\n", launch.buffers[d.buffer].name, d.at, d.expected, d.found);
  if (comparison.mismatches > comparison.differences.size())
    fmt::print("and {} more bytes\n", comparison.mismatches - comparison.differences.size());
  if (!comparison.same_text) fmt::print("the emulator prints:\n{}the GPU prints:\n{}", expected.printed, found.printed);
}

}  // namespace

void diff_launch(const std::filesystem::path& file, const Checks& checks) {
  const KernelLaunch launch = kernel_launch(read_launch(file));
  const std::unique_ptr<GpuRunner> gpus = open_gpus({.target = nullptr, .most = 1});
  EmulatorKernelRunner emulator(gpus->target(), {.jobs = 0, .checks = checks});
  const KernelAnswer expected = emulator.run(launch);
  const KernelAnswer found = open_kernel_gpu()->run(launch);
  const KernelComparison comparison = compare_kernels(launch, expected, found, max_differences);
  print_differences(launch, comparison, expected, found);
  const Dim3 grid = launch.config.grid, block = launch.config.block;
  fmt::print("{}: kernel '{}', {} blocks of {} threads, {} bytes of {} buffers compared, {} mismatch{}, printed text {}; {}\n",
             file.string(), launch.entry, grid.count(), block.count(), comparison.bytes, launch.buffers.size(), comparison.mismatches,
             comparison.mismatches == 1 ? "" : "es",
             !comparison.same_text      ? "differs"
             : expected.printed.empty() ? "none"
                                        : "equal",
             gpus->description());
  if (comparison.mismatches != 0)
    throw std::runtime_error(fmt::format("{} of {} bytes differ between emulator and GPU", comparison.mismatches, comparison.bytes));
  if (!comparison.same_text) throw std::runtime_error("the printed text differs between emulator and GPU");
}

}  // namespace warpmat
