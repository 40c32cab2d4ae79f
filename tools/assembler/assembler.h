#pragma once

#include <warpmat/launch.h>
#include <warpmat/program.h>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/assembler/fused_sums.h"
#include "tools/assembler/immediates.h"

namespace warpmat {

// The CUDA Toolkit's assembler, where it is installed: a process of its own, which only the tools start, never the library.

/// The file ptxas of PATH, else of CUDA_HOME, CUDA_PATH or /usr/local/cuda.
std::optional<std::filesystem::path> find_ptxas();

/// "ptxas 13.0", as it says of itself. Throws std::runtime_error.
std::string version_of(const std::filesystem::path& ptxas);

/// The object file that ptxas makes of `text` for `target`, with line information. Throws std::runtime_error with the first line that it
/// complains in.
std::string assemble(const std::filesystem::path& ptxas, std::string_view text, std::string_view target);

/// What machine code for `target` shows of the results of the module's `entry` that may be immediates: of a copy in which they are stored.
std::vector<ResultInCode> results_by_ptxas(const std::filesystem::path& ptxas, const Module& module, std::string_view entry,
                                           std::string_view target);

/// What the machine code of the module's `entry` for `target` shows of its sums.
SumsInCode sums_by_ptxas(const std::filesystem::path& ptxas, const Module& module, std::string_view entry, std::string_view target);

/// A kernel whose sums are fused, and whose approximate functions are immediates, as in machine code.
struct AssembledKernel {
  Kernel kernel;
  std::string assembler;             ///< what ptxas calls itself
  std::vector<std::string> remarks;  ///< a line for each statement about which the rule of docs/assembler.md says otherwise, and copies
  std::size_t unsure = 0;            ///< how many statements have a remark that their bits may differ from a GPU's
};

/// The module's `entry` as this machine's ptxas assembles it for options.target; nothing if there is no ptxas. Throws std::runtime_error if
/// ptxas does not assemble it.
std::optional<AssembledKernel> kernel_by_ptxas(const Module& module, std::string_view entry, KernelOptions options);

/// Why kernel_by_ptxas() gives nothing: one sentence.
inline constexpr const char* no_ptxas =
    "no ptxas in PATH, CUDA_HOME, CUDA_PATH or /usr/local/cuda: sums are fused by the rule of docs/assembler.md";

}  // namespace warpmat
