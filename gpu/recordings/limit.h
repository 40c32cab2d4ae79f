#pragma once

#include <cstddef>

#include "gpu/recordings/vectors.h"

namespace warpmat {

/// Removes examples until encode(recording) has at most `max_bytes`, and uses at least 99 hundredths of that if possible. Examples that
/// contradict the emulator are removed last; the others are removed evenly from all forms and classes. Digests stay, so every warp is still
/// compared. Returns the number of removed examples. Throws std::runtime_error with the file's size without any example if that is too
/// large.
std::size_t limit_size(Recording& recording, std::size_t max_bytes);

}  // namespace warpmat
