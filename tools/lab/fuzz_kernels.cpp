#include "fuzz_kernels.h"

#include <fmt/core.h>

#include <chrono>
#include <exception>
#include <filesystem>
#include <optional>
#include <stdexcept>

#include <warpmat/files/output_file.h>

#include "gpu/cases/kernel_program.h"
#include "gpu/cases/warpgroup_program.h"
#include "gpu/compare/compare_kernels.h"
#include "gpu/cuda/gpu_runner.h"
#include "gpu/cuda/kernel_gpu.h"
#include "tools/assembler/assembler.h"
#include "tools/lab/report/interruption.h"
#include "tools/report/launch_files.h"
#include "tools/report/progress.h"

namespace warpmat::inline v0_1 {
namespace {

class KernelFuzzer {
 public:
  KernelFuzzer(const KernelFuzzOptions& options, const Target& target)
      : options_(options), target_(target), emulator_(target), gpu_(open_kernel_gpu()) {}

  /// Whether kernel `index` gives the same on both. A kernel that does not is shrunk and kept.
  bool check(std::uint64_t index) {
    constexpr std::uint64_t most_shortened = 10;
    const KernelProgram kernel = options_.warpgroups ? random_warpgroup_kernel(options_.seed, index)
                                                     : random_kernel(target_, options_.seed, index, options_.max_units);
    statements_ += kernel.statements();
    try {
      const KernelComparison comparison = compare(kernel);
      bytes_ += comparison.bytes;
      if (comparison.mismatches == 0) return true;
      if (is_explained(index, kernel)) return true;
      if (shortened_++ < most_shortened)
        report(index, kernel);
      else
        keep(index, kernel, "differs");
      return false;
    } catch (const GpuLost& error) {
      throw GpuLost(kept(index, kernel, error));
    } catch (const std::exception& error) {
      throw std::runtime_error(kept(index, kernel, error));
    }
  }

  std::size_t statements() const { return statements_; }
  std::size_t bytes() const { return bytes_; }
  /// Kernels that differ by the rule of contraction and not by machine code.
  std::uint64_t explained() const { return explained_; }

 private:
  /// Whether a kernel that differs is the same once machine code says which sums are fused. Such a kernel is kept, not shortened.
  bool is_explained(std::uint64_t index, const KernelProgram& kernel) {
    if (!ptxas_ || compare_by_code(kernel).mismatches != 0) return false;
    ++explained_;
    keep(index, kernel, "the same with --assembler ptxas alone");
    return true;
  }

  /// Writes the kernel as it is, and the bytes of all buffers on the GPU.
  void keep(std::uint64_t index, const KernelProgram& kernel, const char* what) const {
    const std::filesystem::path file = path(index);
    write_launch(file, kernel.complete());
    std::string found;
    for (const std::vector<std::uint8_t>& buffer : gpu_->run(kernel.complete()).buffers) found.append(buffer.begin(), buffer.end());
    write_file(file.string() + ".gpu", {found});
    fmt::print("seed {}, kernel {}: {}: {}\n", options_.seed, index, what, file.string());
  }

  KernelComparison compare(const KernelProgram& kernel) {
    const KernelLaunch launch = kernel.complete();
    return compare_kernels(launch, emulator_.run(launch), gpu_->run(launch), 4);
  }

  /// By what machine code shows of sums, where ptxas is installed.
  KernelComparison compare_by_code(const KernelProgram& kernel) {
    if (!ptxas_) return compare(kernel);
    const KernelLaunch launch = kernel.complete();
    const SumsInCode code = sums_by_ptxas(*ptxas_, Module(launch.ptx), launch.entry, target_.name);
    emulator_.set_sums(&code.sums);
    const KernelComparison comparison = compare(kernel);
    emulator_.set_sums(nullptr);
    return comparison;
  }

  /// Writes the kernel that failed, and returns a message that names it.
  std::string kept(std::uint64_t index, const KernelProgram& kernel, const std::exception& error) const {
    const std::filesystem::path file = path(index);
    write_launch(file, kernel.complete());
    return fmt::format("seed {}, kernel {} ({}): {}", options_.seed, index, file.string(), error.what());
  }

  std::filesystem::path path(std::uint64_t index) const {
    return std::filesystem::path(options_.keep) / fmt::format("warpmat_kernel_{}_{}.launch.json", options_.seed, index);
  }

  void report(std::uint64_t index, const KernelProgram& kernel) {
    const KernelProgram shortest =
        shrink(kernel, [&](const KernelProgram& candidate) { return compare_by_code(candidate).mismatches != 0; });
    const KernelComparison comparison = compare_by_code(shortest);
    const std::filesystem::path file = path(index);
    const KernelLaunch launch = shortest.complete();
    write_launch(file, launch);
    fmt::print("seed {}, kernel {}: {} of {} statements still differ, in {} bytes\n", options_.seed, index, shortest.statements(),
               kernel.statements(), comparison.mismatches);
    for (const ByteDifference& d : comparison.differences)
      fmt::print("  buffer {}, byte {}: emulator {:#04x}, GPU {:#04x}\n", launch.buffers[d.buffer].name, d.at, d.expected, d.found);
    fmt::print("replay: warpmat diff {}\n", file.string());
  }

  const KernelFuzzOptions& options_;
  const Target& target_;
  EmulatorKernelRunner emulator_;
  std::unique_ptr<KernelRunner> gpu_;
  const std::optional<std::filesystem::path> ptxas_ = find_ptxas();
  std::size_t statements_ = 0, bytes_ = 0;
  std::uint64_t explained_ = 0, shortened_ = 0;
};

/// The first GPU's description. It is obtained before a kernel runs, because after a hang the end of a runner waits for the kernel.
struct Card {
  const Target* target;
  std::string description;
};

Card first_card() {
  const std::unique_ptr<GpuRunner> gpu = open_gpus({.target = nullptr, .most = 1});
  return {&gpu->target(), gpu->description()};
}

}  // namespace

void fuzz_kernels(const KernelFuzzOptions& options) {
  const Shard::Range part = options.shard.of(options.kernels);
  const Card card = first_card();
  KernelFuzzer fuzzer(options, *card.target);
  const auto start = std::chrono::steady_clock::now();
  std::uint64_t run = 0, differing = 0;
  std::exception_ptr failure;  // a kernel hangs or the assembler refuses it: earlier comparisons still count
  catch_interruptions();
  try {
    Progress progress(part.count);
    for (; run < part.count && differing < options.enough && interruption() == 0; ++run, progress.advance())
      differing += !fuzzer.check(options.first + part.first + run);
  } catch (...) {
    failure = std::current_exception();
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  fmt::print("{} of {} kernels from {} on, {} statements, {} bytes compared, {} kernel{} differ; {:.1f} s\n", run, part.count,
             options.first + part.first, fuzzer.statements(), fuzzer.bytes(), differing, differing == 1 ? "" : "s", seconds.count());
  if (fuzzer.explained() != 0)
    fmt::print("{} more differ in which sums are fused, and are the same with --assembler ptxas\n", fuzzer.explained());
  fmt::print("{}, seed {}\n", card.description, options.seed);
  if (failure) std::rethrow_exception(failure);
  if (differing == 0 && fuzzer.explained() != 0)
    throw std::runtime_error(fmt::format("{} kernels differ between emulator and GPU, and by --assembler none", fuzzer.explained()));
  if (differing != 0) throw std::runtime_error(fmt::format("{} kernels differ between emulator and GPU", differing));
  if (run < part.count) throw_if_interrupted("the rest was not run");
}

}  // namespace warpmat::inline v0_1
