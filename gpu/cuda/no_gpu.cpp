#include "gpu/cuda/gpu_runner.h"
#include "gpu/cuda/scalar_gpu.h"

namespace warpmat {

std::unique_ptr<GpuRunner> open_gpus(const GpuOptions&) {
  throw NoGpu("no GPU: this warpmat was built without the CUDA Toolkit");
}

std::unique_ptr<ScalarGpu> open_scalar_gpu(const Target&, PtxVersion) {
  throw NoGpu("no GPU: this warpmat was built without the CUDA Toolkit");
}

}  // namespace warpmat
