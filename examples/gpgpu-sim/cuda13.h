// What GPGPU-Sim takes from CUDA's headers and CUDA 12 and 13 no longer have: references to textures and surfaces. Programs compiled with
// these versions have none, so the simulator never sees one.
#pragma once

#if defined(__cplusplus) && __has_include(<texture_types.h>)
#include <driver_types.h>
#include <texture_types.h>

struct textureReference {
  int normalized;
  cudaTextureFilterMode filterMode;
  cudaTextureAddressMode addressMode[3];
  cudaChannelFormatDesc channelDesc;
};
struct surfaceReference {
  cudaChannelFormatDesc channelDesc;
};
#endif
