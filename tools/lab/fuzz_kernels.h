#pragma once

#include <cstdint>
#include <string>

#include "tools/gpu/report/result_options.h"
#include "tools/gpu/report/run_result.h"

namespace warpmat {

struct KernelLaunch;

struct KernelFuzzOptions {
  std::uint64_t first = 0, kernels = 1000, seed = 1;  ///< numbers of the kernels of the whole run
  ResultOptions result;                               ///< its shard: this run's part of them
  int max_units = 24;
  bool warpgroups = false;    ///< kernels of wgmma instead
  std::string keep = ".";     ///< directory for kernels that differ
  std::uint64_t enough = 10;  ///< kernels that differ: then the run ends
  std::string answers = "";   ///< a file for what the GPU gives (kernel_answers.h): then nothing is kept, and the run goes on; empty: none
};

/// `warpmat fuzz --kernels` and `--warpgroups`: runs random kernels on the emulator and on this machine's GPU, and compares every byte of
/// every buffer. Throws std::runtime_error if something differs, NoGpu without a GPU.
void fuzz_kernels(const KernelFuzzOptions& options);

/// `warpmat fuzz --kernels --read-answers`: runs the kernels of such a file on the emulator, and compares with what the GPU gave. Throws
/// std::runtime_error if something differs.
void fuzz_answers(const std::string& file, const ResultOptions& options);

/// A run of random kernels that begins: `run` as "fuzz --kernels". Kernel 0 stands for all that a build draws.
RunResult begun_kernels(const char* run, const KernelFuzzOptions& options, const Target& target, const KernelLaunch& kernel_0);

}  // namespace warpmat
