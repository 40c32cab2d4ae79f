// The functions of cuBLAS by their names: each row of the table calls the routine that implements it for its types and sizes.

#include <warpmat/cuda/libraries/blas_handle.h>
#include <warpmat/cuda/libraries/blas_types.h>

namespace warpmat::cuda {

#define WARPMAT_LIBRARY_ROUTINES blas
#define WARPMAT_LIBRARY_REFUSAL blas_not_supported
#define WARPMAT_LIBRARY_TABLE <warpmat/cuda/libraries/blas_functions.inc>
#include <warpmat/cuda/libraries/implement.inc>

}  // namespace warpmat::cuda
