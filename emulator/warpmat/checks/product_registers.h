#pragma once

#include <cstdint>
#include <vector>

#include <warpmat/ptx/program/code.h>

namespace warpmat::inline v0_1::checks {

/// What WgmmaCheck knows of a program. It is made once a launch, for all clusters.
struct ProductRegisters {
  explicit ProductRegisters(const code::Program& program);

  std::vector<std::uint32_t> accumulators;  ///< by operation, of products: the first one with the same accumulators
  std::vector<bool> concerned;              ///< by operation: whether it has a register that a product may have, too
};

}  // namespace warpmat::inline v0_1::checks
