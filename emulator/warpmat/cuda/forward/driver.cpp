// The driver's functions.

#include <warpmat/cuda/forward/forward.h>

#define WARPMAT_CUDA_SUPPORTED(name, version, bytes) WARPMAT_CUDA_FORWARD(name)
#define WARPMAT_CUDA_UNSUPPORTED WARPMAT_CUDA_SUPPORTED
#include <warpmat/cuda/driver_functions.inc>
