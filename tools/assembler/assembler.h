#pragma once

#include <warpmat/assembler.h>
#include <warpmat/launch.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warpmat {

/// A kernel as an assembler decides about it.
struct AssembledKernel {
  Kernel kernel;
  std::string assembler;  ///< what it calls itself
  std::vector<std::string>
      remarks;             ///< a line for each statement about which the rule of docs/reference/assembler.md says otherwise, and in doubt
  std::size_t unsure = 0;  ///< how many statements have a remark that their bits may differ from a GPU's
};

/// The module's `entry` as this machine's ptxas assembles it; nothing if there is no ptxas. Throws what ask_ptxas() throws.
std::optional<AssembledKernel> kernel_by_ptxas(const Module& module, std::string_view entry, KernelOptions options);

/// What a user is told where there is no ptxas: who decides then.
std::string text_without_ptxas();

}  // namespace warpmat
