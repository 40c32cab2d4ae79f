#pragma once

#include <string_view>

#include <warpmat/ptx/syntax/module.h>

namespace warpmat::code {

/// The options of ptxas that change bits. They override every provider of decisions.
struct AssemblerOptions {
  bool contract = true;  ///< not --fmad=false
  bool optimise = true;  ///< not -G, -g, -O0: then no instruction is merged with another, and no result computed beforehand

  /// Forbids what `other` forbids, too.
  AssemblerOptions& operator|=(const AssemblerOptions& other) {
    contract = contract && other.contract;
    optimise = optimise && other.optimise;
    return *this;
  }
};

/// The options in a command line of ptxas, as programs keep it beside their PTX: "-O0 --fmad false -g". Others are passed over.
AssemblerOptions parse_assembler_options(std::string_view text);

/// Those of the module: `.target sm_90, debug`.
AssemblerOptions options_of_module(const syntax::Module& module);

}  // namespace warpmat::code
