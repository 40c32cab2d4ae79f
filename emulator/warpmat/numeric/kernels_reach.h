#pragma once

#include <cstdint>

namespace warpmat {

/// Whether the kernels of kernels_target() are those of this target of Highway, or of a better one.
bool kernels_reach(std::int64_t highway_target);

}  // namespace warpmat
