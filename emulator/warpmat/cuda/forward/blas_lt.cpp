// cuBLASLt's functions.

#include <warpmat/cuda/forward/forward.h>

#define WARPMAT_LIBRARY_SUPPORTED(result, name, ...) WARPMAT_CUDA_FORWARD(name)
#define WARPMAT_LIBRARY_UNSUPPORTED WARPMAT_CUDA_FORWARD
#include <warpmat/cuda/libraries/blas_lt_functions.inc>
