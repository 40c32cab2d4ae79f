#include "fuzz_kernels.h"

#include <fmt/core.h>

#include <chrono>
#include <exception>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include <warpmat/files/output_file.h>
#include <warpmat/ir/code.h>
#include <warpmat/machine/internals.h>

#include "gpu/compare/compare_kernels.h"
#include "gpu/cuda/gpu_runner.h"
#include "gpu/cuda/kernel_gpu.h"
#include "gpu/lab/kernels/kernel_program.h"
#include "gpu/lab/kernels/warpgroup_program.h"
#include "tools/gpu/report/interruption.h"
#include "tools/lab/report/kernel_answers.h"
#include "tools/report/launch_files.h"
#include "tools/report/progress.h"

namespace warpmat {
namespace {

KernelProgram drawn(const KernelFuzzOptions& options, const Target& target, std::uint64_t index) {
  return options.warpgroups ? random_warpgroup_kernel(options.seed, index) : random_kernel(target, options.seed, index, options.max_units);
}

class KernelFuzzer {
 public:
  KernelFuzzer(const KernelFuzzOptions& options, const Target& target)
      : options_(options), target_(target), emulator_(target), gpu_(open_kernel_gpu()) {
    if (options.answers.empty()) return;
    check_output_place(options.answers);
    answers_.open(options.answers, std::ios::binary);
    write(header_line(options.seed, target.name, digest_of(random_kernel(target, options.seed, 0, options.max_units).complete().ptx)));
  }

  /// Whether kernel `index` gives the same on both. A kernel that does not is shrunk and kept.
  bool check(std::uint64_t index) {
    constexpr std::uint64_t most_shortened = 10;
    const KernelProgram kernel = drawn(options_, target_, index);
    statements_ += kernel.statements();
    if (!options_.answers.empty()) return record(index, kernel);
    try {
      const KernelComparison comparison = compare(kernel);
      bytes_ += comparison.bytes;
      if (comparison.mismatches == 0) return true;
      if (is_doubted(index, kernel)) return true;
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
  /// Kernels that differ and have statements in doubt.
  std::uint64_t doubted() const { return doubted_; }
  /// Of those whose answers are recorded and that differ: with statements in doubt.
  std::uint64_t named() const { return named_; }

 private:
  /// Adds a line to the file of answers.
  void write(const std::string& line) {
    answers_ << line << std::flush;
    if (!answers_) throw std::runtime_error(fmt::format("cannot write {}", options_.answers));
  }

  /// Writes what the GPU gives for the kernel. Whether the emulator gives the same.
  bool record(std::uint64_t index, const KernelProgram& kernel) {
    constexpr std::size_t most_bytes = 2000;
    using Same = RecordedKernel::Same;
    const KernelLaunch launch = kernel.complete();
    const KernelAnswer found = gpu_->run(launch);
    RecordedKernel recorded{.index = index, .digest = digest_of(found)};
    KernelAnswer expected = emulator_.run(launch);
    KernelComparison comparison = compare_kernels(launch, expected, found, 0);
    bytes_ += comparison.bytes;
    if (comparison.mismatches != 0) {
      recorded.named = doubts(launch);
      recorded.same = Same::no;
    }
    named_ += recorded.same == Same::no && recorded.named != 0;
    if (recorded.same == Same::no) {
      recorded.mismatches = comparison.mismatches;
      recorded.found = bytes_found(expected, found, most_bytes);
    }
    write(line_of(recorded));
    return recorded.same != Same::no;
  }

  /// Whether a kernel that differs has statements in doubt. Such a kernel is kept, not shortened.
  bool is_doubted(std::uint64_t index, const KernelProgram& kernel) {
    if (doubts(kernel.complete()) == 0) return false;
    ++doubted_;
    keep(index, kernel, "differs, and has statements in doubt");
    return true;
  }

  /// How many statements of the kernel are in doubt.
  std::size_t doubts(const KernelLaunch& launch) const {
    const Kernel kernel(Module(launch.ptx), launch.entry, {.target = target_.name});
    return program_of(kernel).doubted.size();
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
    const KernelProgram shortest = shrink(kernel, [&](const KernelProgram& candidate) { return compare(candidate).mismatches != 0; });
    const KernelComparison comparison = compare(shortest);
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
  std::size_t statements_ = 0, bytes_ = 0;
  std::uint64_t doubted_ = 0, shortened_ = 0, named_ = 0;
  std::ofstream answers_;
};

/// The first GPU's description. It is obtained before a kernel runs, because after a hang the end of a runner waits for the kernel.
struct Card {
  const Target* target;
  std::string description;
  std::vector<GpuInfo> gpus;
};

Card first_card() {
  const std::unique_ptr<GpuRunner> gpu = open_gpus({.target = nullptr, .most = 1});
  return {&gpu->target(), gpu->description(), gpu->gpus()};
}

}  // namespace

RunResult begun_kernels(const char* run, const KernelFuzzOptions& options, const Target& target, const KernelLaunch& kernel_0) {
  options.result.check();
  RunResult result = begun_result(run, &target, options.result.shard);
  result.settings = {{"seed", std::to_string(options.seed)}, {"kernel 0", digest_of(kernel_0.ptx)}};
  result.unit = "kernels";
  result.range = {options.first, options.kernels};
  result.items = {"kernels"};
  return result;
}

void fuzz_kernels(const KernelFuzzOptions& options) {
  const Shard::Range part = share_of(options.result.shard, options.kernels, "kernels");
  const Card card = first_card();
  RunResult result = begun_kernels(options.warpgroups ? "fuzz --warpgroups" : "fuzz --kernels", options, *card.target,
                                   drawn(options, *card.target, 0).complete());
  result.gpus = card.gpus;
  KernelFuzzer fuzzer(options, *card.target);
  const auto start = std::chrono::steady_clock::now();
  std::uint64_t run = 0, differing = 0;
  std::exception_ptr failure;  // a kernel hangs or the assembler refuses it: earlier comparisons still count
  catch_interruptions();
  try {
    Progress progress(part.count);
    for (; run < part.count && (differing < options.enough || !options.answers.empty()) && interruption() == 0; ++run, progress.advance())
      differing += !fuzzer.check(options.first + part.first + run);
  } catch (...) {
    failure = std::current_exception();
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  result.seconds = seconds.count();
  result.columns = {"kernels", "statements", "bytes", "in doubt", "differ"};
  result.rows = {{"kernels", {run, fuzzer.statements(), fuzzer.bytes(), fuzzer.doubted() + fuzzer.named(), differing}}};
  if (failure || run < part.count) end_early(result, failure ? "a kernel hung or was refused" : "interrupted, or enough kernels differ");
  write_result(options.result.json, result);
  fmt::print("{} of {} kernels from {} on, {} statements, {} bytes compared, {} kernel{} differ; {:.1f} s\n", run, part.count,
             options.first + part.first, fuzzer.statements(), fuzzer.bytes(), differing, differing == 1 ? "" : "s", seconds.count());
  if (fuzzer.doubted() != 0) fmt::print("{} more differ, and have statements in doubt\n", fuzzer.doubted());
  if (!options.answers.empty()) fmt::print("{} of those that differ have statements in doubt\n", fuzzer.named());
  fmt::print("{}, seed {}\n", card.description, options.seed);
  if (failure) std::rethrow_exception(failure);
  if (differing != 0) throw std::runtime_error(fmt::format("{} kernels differ between emulator and GPU", differing));
  if (run < part.count) throw_if_interrupted("the rest was not run");
}

}  // namespace warpmat
