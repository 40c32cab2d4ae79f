#pragma once

#include <cstddef>

#include "gpu/recordings/vectors.h"

namespace warpmat {

/// Leaves out examples until encode(recording) has at most `most_bytes`, and no more of them than leave a hundredth of that unused. Those
/// that contradict the emulator stay longest, and the others go evenly from all forms and classes. Digests stay: every warp is still
/// compared. Returns how many examples were left out. Throws std::runtime_error that says how large the file is without any example, if
/// that is too large.
std::size_t limit_size(Recording& recording, std::size_t most_bytes);

}  // namespace warpmat
