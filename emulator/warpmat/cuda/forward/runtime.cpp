// The runtime's functions. runtime_12/changed.cpp has those whose interface CUDA 12 has another of.

#include <warpmat/cuda/forward/forward.h>

#define WARPMAT_CUDA_SUPPORTED WARPMAT_CUDA_FORWARD
#define WARPMAT_CUDA_UNSUPPORTED WARPMAT_CUDA_FORWARD
#include <warpmat/cuda/runtime_functions.inc>
