#pragma once

#include <memory>

#include "gpu/cuda/gpu_runner.h"
#include "gpu/runners/scalar_runner.h"

namespace warpmat {

/// This machine's first GPU of the target's hardware for scalar cases. Throws NoGpu. Several may exist, each for its own thread.
std::unique_ptr<ScalarGpu> open_scalar_gpu(const Target& target, PtxVersion version);

}  // namespace warpmat
