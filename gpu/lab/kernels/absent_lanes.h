#pragma once

#include <cstdint>
#include <string>

#include "gpu/cases/random.h"

namespace warpmat {

// What random kernels (kernel_program.h) do with lanes that are absent: lanes that exit early, and shuffles that read lanes which take no
// part. Registers are those of the generator: %thread of the block, %i of the grid, %m<depth> the lanes that are together.

struct EarlyExit {
  std::string text;
  bool parts_warps = false;  ///< the lanes of a warp may part: matrix instructions can no longer follow
};

/// The label in front of the kernel's last `ret`, where lanes that exit may branch to.
inline constexpr const char* exit_label = "$out";

/// Some lanes, warps or the grid's last threads leave. `word` is a register whose bits choose lanes.
EarlyExit early_exit(Random& random, const std::string& word, std::uint32_t warps_of_block, std::uint32_t threads_of_grid);

/// shfl among the lanes of %m<depth>, which may read all others: "shfl.sync.idx.b32 result|in_range, value, lane, c, %m1;".
std::string absent_shuffle(Random& random, int depth, const std::string& result, const std::string& in_range, const std::string& value,
                           const std::string& lane);

}  // namespace warpmat
