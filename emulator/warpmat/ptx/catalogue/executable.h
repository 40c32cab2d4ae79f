#pragma once

#include <warpmat/ptx/catalogue/catalogue.h>
#include <warpmat/scalar/kernel.h>

namespace warpmat::catalogue {

/// The executable form of a statement with a kernel: function(results, sources, modifiers).
struct Executable {
  scalar::Function function = nullptr;  ///< for the selected instruction set (numeric/kernels_target.h)
  scalar::Modifiers modifiers;
};

/// The kernel of `match`'s row with the modifiers from the opcode's qualifiers. Precondition: the row has a kernel.
Executable executable(const Match& match);

}  // namespace warpmat::catalogue
