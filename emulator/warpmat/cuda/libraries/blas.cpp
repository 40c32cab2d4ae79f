// The functions of cuBLAS by their names: each row of the table calls the routine that implements it for its types and sizes.

#include <warpmat/cuda/libraries/blas_handle.h>
#include <warpmat/cuda/libraries/blas_types.h>

namespace warpmat::cuda {

#define WARPMAT_ARGUMENTS(...) __VA_OPT__(, ) __VA_ARGS__
#define WARPMAT_LIBRARY_SUPPORTED(result, name, routine, parameters, arguments) \
  WARPMAT_CUDA_API result name parameters {                                     \
    return blas::routine(#name WARPMAT_ARGUMENTS arguments);                    \
  }
#define WARPMAT_LIBRARY_UNSUPPORTED(name) \
  WARPMAT_CUDA_API int name() {           \
    say_unsupported(#name);               \
    return blas_not_supported;            \
  }
#include <warpmat/cuda/libraries/blas_functions.inc>
#undef WARPMAT_LIBRARY_SUPPORTED
#undef WARPMAT_LIBRARY_UNSUPPORTED

}  // namespace warpmat::cuda
