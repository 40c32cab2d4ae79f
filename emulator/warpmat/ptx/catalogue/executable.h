#pragma once

#include <warpmat/ptx/catalogue/catalogue.h>
#include <warpmat/scalar/kernel.h>

namespace warpmat::catalogue {

/// What a statement of a row with a kernel executes: function(results, sources, modifiers).
struct Executable {
  scalar::Function function = nullptr;  ///< for the instruction set in use (numeric/kernels_target.h)
  scalar::Modifiers modifiers;
};

/// The kernel of `match`'s row and what the opcode's qualifiers say to it. The row must have a kernel.
Executable executable(const Match& match);

}  // namespace warpmat::catalogue
