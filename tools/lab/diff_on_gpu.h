#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace warpmat {

struct OnGpuOptions {
  std::string forms;             ///< only opcodes in which this regular expression is found
  bool all = false;              ///< forms too whose code is that of another one
  unsigned seconds = 1;          ///< of comparing with the card, for each form and selector
  std::size_t judged = 100'000;  ///< outputs of each class that the CPU judges, at least
  std::uint64_t seed = 1;
};

/// `warpmat diff --on-gpu`: compiles the device header's forms with nvcc, compares them on this machine's GPU with its own instructions,
/// and has the CPU judge their answers. Prints a line for each form. Throws NoGpu without a GPU, std::runtime_error if something differs,
/// does not compile, or is missing.
void diff_on_gpu(const OnGpuOptions& options);

}  // namespace warpmat
