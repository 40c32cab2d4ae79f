#include <algorithm>

#include "gpu/runners/runner.h"

namespace warpmat {

WarpStates::WarpStates(const Program& program, std::size_t warp_count, std::size_t at_least_shared_bytes)
    : warps(warp_count),
      words(static_cast<std::size_t>(program.named_words())),
      shared_bytes(std::max(at_least_shared_bytes, static_cast<std::size_t>(program.shared_bytes()))),
      registers(warps * words),
      shared(warps * shared_bytes) {}

}  // namespace warpmat
