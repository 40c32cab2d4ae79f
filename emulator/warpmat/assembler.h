#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <warpmat/diagnostic.h>
#include <warpmat/launch.h>
#include <warpmat/version.h>

namespace warpmat {

// PTX leaves bits open that the assembler decides: which products and sums become one fma, which results are immediates. Without an answer
// from outside, Kernel follows a rule that is the same on every machine: docs/reference/assembler.md.

/// What an assembler decided about the statements of one kernel, by their places in the module's text.
struct AssemblerDecisions {
  /// An add or sub of floating point without a rounding modifier.
  struct Sum {
    Location at{};
    bool fused = false;     ///< with a product, into an fma
    Location addend{0, 0};  ///< of the other product, which is the addend of that fma; line 0 where it is no product
    bool inferred = false;  ///< not read off an instruction of its own alone: a GPU's bits may differ
  };
  /// An instruction of 32 bits whose result the assembler may compute itself.
  struct Result {
    Location at{};
    bool immediate = false;  ///< whether it is `bits`; else the GPU computes it
    std::uint32_t bits = 0;
  };
  /// A product of f32: whether a power of two is a part of its instruction.
  struct Product {
    Location at{};
    bool scaled = false;
  };

  std::string assembler{};  ///< who decided, as messages name it: "ptxas 13.0.88"
  std::vector<Sum> sums{};
  std::vector<Location> open{};  ///< sums that the machine code does not settle: the rule decides them
  std::vector<Result> results{};
  std::vector<Product> products{};
};

/// Asks the ptxas of this machine about `entry` of the module, as options.target and options.assembler_options say. ptxas is the program of
/// PATH, else of CUDA_HOME, CUDA_PATH or /usr/local/cuda; this starts it as a process. Its answers are kept in the folder warpmat of the
/// user's cache (XDG_CACHE_HOME, else ~/.cache), by a digest of everything that they depend on. Nothing if there is no ptxas. Throws what
/// Kernel's constructor throws, and std::runtime_error if ptxas does not assemble the module.
[[nodiscard]] WARPMAT_API std::optional<AssemblerDecisions> ask_ptxas(const Module& module, std::string_view entry,
                                                                      const KernelOptions& options = {});

/// What the machine code of a program says about `entry` of its PTX `module`: `cubin` is an ELF file for the GPU of options.target. Where
/// the ptxas of this machine makes the same code of that PTX, each statement's instruction decides; this starts it as ask_ptxas() does,
/// unless `with_ptxas` is false. Else the kinds of instructions decide that the function has, by its lines where it has any. Nothing if the
/// file has no machine code of the entry.
[[nodiscard]] WARPMAT_API std::optional<AssemblerDecisions> read_machine_code(const Module& module, std::string_view entry,
                                                                              std::string_view cubin, const KernelOptions& options = {},
                                                                              bool with_ptxas = true);

}  // namespace warpmat
