#pragma once

#include <chrono>
#include <memory>

#include "gpu/cuda/gpu_runner.h"
#include "gpu/runners/kernel_runner.h"

namespace warpmat {

/// This machine's first GPU for whole kernels. The driver assembles the module; buffers are copied there and back; printed text is captured
/// from standard output, to which the driver writes it. Throws NoGpu. run() throws GpuLost if the kernel traps or takes longer than
/// `time_limit`.
std::unique_ptr<KernelRunner> open_kernel_gpu(std::chrono::seconds time_limit = std::chrono::seconds(60));

}  // namespace warpmat
