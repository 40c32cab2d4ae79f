// The functions of the runtime that do nothing here: they say their name once and return cudaErrorNotSupported.

#include <string>

#include <warpmat/cuda/errors.h>

namespace warpmat::cuda {
namespace {

Error refuse(const char* name) {
  say_once(std::string(name) + " is not supported (docs/programs.md lists what is)");
  return last_error() = cudaErrorNotSupported;
}

}  // namespace

#define WARPMAT_CUDA_SUPPORTED(name)
#define WARPMAT_CUDA_UNSUPPORTED(name) \
  WARPMAT_CUDA_API Error name() {      \
    return refuse(#name);              \
  }
#include <warpmat/cuda/runtime_functions.inc>
#undef WARPMAT_CUDA_SUPPORTED
#undef WARPMAT_CUDA_UNSUPPORTED

}  // namespace warpmat::cuda
