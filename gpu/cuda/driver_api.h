#pragma once

#include <cstddef>

namespace warpmat {

// The few types and constants of the CUDA driver's interface that are used here, under NVIDIA's names, so that the build does not need the
// CUDA Toolkit. The interface is binary and does not change: changed functions got a new name (_v2). Source: CUDA Driver API reference. If
// cuda.h is installed, tests/gpu/driver_api_test.cpp compares every line with it.

using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = struct CUctx_st*;
using CUmodule = struct CUmod_st*;
using CUfunction = struct CUfunc_st*;
using CUstream = struct CUstream_st*;
using CUevent = struct CUevent_st*;
using CUlinkState = struct CUlinkState_st*;
using CUarray = struct CUarray_st*;

/// The driver's form of a tensor map.
struct alignas(128) CUtensorMap {
  unsigned long long opaque[16];
};

enum CUlaunchAttributeID : unsigned { CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION = 4 };

struct CUlaunchAttribute {
  CUlaunchAttributeID id;
  char pad[4];
  struct alignas(8) {
    unsigned x, y, z;
    char rest[52];
  } clusterDim;
};

struct CUlaunchConfig {
  unsigned gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
  CUstream hStream;
  CUlaunchAttribute* attrs;
  unsigned numAttrs;
};

enum CUresult : unsigned {
  CUDA_SUCCESS = 0,
  CUDA_ERROR_OUT_OF_MEMORY = 2,
  CUDA_ERROR_UNSUPPORTED_PTX_VERSION = 222,
  CUDA_ERROR_NOT_READY = 600
};

enum CUdevice_attribute : unsigned {
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
  CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97,
};

enum CUfunction_attribute : unsigned {
  CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
  CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED = 14
};

enum CUjit_option : unsigned { CU_JIT_ERROR_LOG_BUFFER = 5, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6 };

enum CUjitInputType : unsigned { CU_JIT_INPUT_PTX = 1 };

enum CUmemorytype : unsigned { CU_MEMORYTYPE_HOST = 1, CU_MEMORYTYPE_DEVICE = 2 };

enum CUevent_flags : unsigned { CU_EVENT_DISABLE_TIMING = 2 };

/// A copy of `Height` rows of `WidthInBytes` bytes.
struct CUDA_MEMCPY2D {
  std::size_t srcXInBytes, srcY;
  CUmemorytype srcMemoryType;
  const void* srcHost;
  CUdeviceptr srcDevice;
  CUarray srcArray;
  std::size_t srcPitch;
  std::size_t dstXInBytes, dstY;
  CUmemorytype dstMemoryType;
  void* dstHost;
  CUdeviceptr dstDevice;
  CUarray dstArray;
  std::size_t dstPitch;
  std::size_t WidthInBytes, Height;
};

}  // namespace warpmat
