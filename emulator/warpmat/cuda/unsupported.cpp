// The functions of both interfaces that do nothing here: they say their name once and return cudaErrorNotSupported, which is the driver's
// number too.

#include <string>

#include <warpmat/cuda/errors.h>

namespace warpmat::cuda {
namespace {

Error refuse(const char* name) {
  say_once(std::string(name) + " is not supported (docs/use/programs.md lists what is)");
  return cudaErrorNotSupported;
}

}  // namespace

#define WARPMAT_CUDA_SUPPORTED(...)
#define WARPMAT_CUDA_UNSUPPORTED(name)   \
  WARPMAT_CUDA_API Error name() {        \
    return last_error() = refuse(#name); \
  }
#include <warpmat/cuda/runtime_functions.inc>
#undef WARPMAT_CUDA_UNSUPPORTED
#define WARPMAT_CUDA_UNSUPPORTED(name, version, bytes) \
  WARPMAT_CUDA_API Error name() {                      \
    return refuse(#name);                              \
  }
#include <warpmat/cuda/driver_functions.inc>
#undef WARPMAT_CUDA_UNSUPPORTED
#undef WARPMAT_CUDA_SUPPORTED

}  // namespace warpmat::cuda
