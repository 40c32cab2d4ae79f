#pragma once

#include <chrono>
#include <memory>

#include "gpu/cuda/gpu_runner.h"
#include "gpu/runners/kernel_runner.h"

namespace warpmat {

/// This machine's first GPU for whole kernels: the driver assembles the module, buffers are copied there and back, and what the kernel
/// prints is taken from standard output, to which the driver writes it. Throws NoGpu; its run() throws GpuLost where the kernel traps or
/// takes longer than `time_limit`.
std::unique_ptr<KernelRunner> open_kernel_gpu(std::chrono::seconds time_limit = std::chrono::seconds(60));

}  // namespace warpmat
