#pragma once

#include <cstdint>
#include <vector>

#include <warpmat/ir/code.h>

namespace warpmat::checks {

/// What WgmmaCheck knows of a program. It is made once a launch, for all clusters.
struct ProductRegisters {
  explicit ProductRegisters(const code::Program& program);

  std::vector<std::uint32_t> accumulators;  ///< by operation, of products: the first one with the same accumulators
  /// By operation: the first one from it on that has a register which a product may have, too; behind the last, the number of operations.
  std::vector<std::uint32_t> next_concerned;
};

}  // namespace warpmat::checks
