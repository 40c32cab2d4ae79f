#pragma once

#include <memory>

#include "gpu/cuda/gpu_runner.h"
#include "gpu/lab/constants/constant_runner.h"

namespace warpmat {

/// This machine's first GPU for kernels with constants, which the driver assembles. Throws NoGpu. Several may exist, each for a thread of
/// its own.
std::unique_ptr<ConstantRunner> open_constant_gpu();

}  // namespace warpmat
