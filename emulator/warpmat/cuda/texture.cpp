#include <warpmat/cuda/types.h>

namespace warpmat::cuda {

struct ChannelFormat {  ///< cudaChannelFormatDesc
  int x, y, z, w, kind;
};

/// The one function for textures that needs no texture.
WARPMAT_CUDA_API ChannelFormat cudaCreateChannelDesc(int x, int y, int z, int w, int kind) {
  return {x, y, z, w, kind};
}

}  // namespace warpmat::cuda
