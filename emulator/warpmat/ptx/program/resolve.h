#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include <warpmat/diagnostic.h>
#include <warpmat/program.h>
#include <warpmat/ptx/program/code.h>

namespace warpmat::code {

struct ResolveOptions {
  bool contract = true;                                ///< as ptxas without --fmad=false: see contraction.h
  const std::vector<SumInCode>* sums = nullptr;        ///< what the machine code of this module shows; null: go by the rule
  const std::vector<ResultInCode>* results = nullptr;  ///< the same
};

/// The program of an entry. `target` is the GPU to emulate, or nullptr for the module's own .target; PTX for an older target runs on a
/// newer one. Throws SyntaxError listing every statement that cannot be executed, and std::invalid_argument if there is no such entry or
/// the target does not fit.
Program resolve(std::shared_ptr<const syntax::Module> module, std::string_view entry, const Target* target = nullptr,
                const ResolveOptions& options = {});

/// The most threads of a block: the product of .maxntid, or what every GPU allows where one of them is 0 or the product is larger.
std::int64_t most_threads(const Limits& limits);

}  // namespace warpmat::code
