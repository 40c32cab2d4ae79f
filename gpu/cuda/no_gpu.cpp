#include "gpu/cuda/gpu_runner.h"

namespace warpmat {

std::unique_ptr<GpuRunner> open_gpus(const GpuOptions&) {
  throw NoGpu("no GPU: this warpmat was built without the CUDA Toolkit");
}

}  // namespace warpmat
