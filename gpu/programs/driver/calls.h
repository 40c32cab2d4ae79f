#pragma once

#include <cstddef>
#include <cstdint>

#include "gpu/cuda/driver_api.h"
#include "gpu/programs/driver/forward.h"

// The driver's functions that this library calls or replaces. Signatures: CUDA Driver API reference; tests/gpu/programs/calls_test.cpp
// compares them with cuda.h where that is.

namespace warpmat::programs {

using Handle = void*;

WARPMAT_DRIVER_API int cuGetProcAddress(const char* name, void** function, int version, std::uint64_t flags);
WARPMAT_DRIVER_API int cuGetProcAddress_v2(const char* name, void** function, int version, std::uint64_t flags, int* status);

WARPMAT_DRIVER_API int cuModuleLoadData(Handle* module, const void* image);
WARPMAT_DRIVER_API int cuModuleLoadDataEx(Handle* module, const void* image, unsigned count, int* options, void** values);
WARPMAT_DRIVER_API int cuModuleLoadFatBinary(Handle* module, const void* image);
WARPMAT_DRIVER_API int cuModuleLoad(Handle* module, const char* path);
WARPMAT_DRIVER_API int cuModuleUnload(Handle module);
WARPMAT_DRIVER_API int cuModuleGetFunction(Handle* function, Handle module, const char* name);
WARPMAT_DRIVER_API int cuLibraryLoadData(Handle* library, const void* image, int* jit_options, void** jit_values, unsigned jit_count,
                                         int* options, void** values, unsigned count);
WARPMAT_DRIVER_API int cuLibraryLoadFromFile(Handle* library, const char* path, int* jit_options, void** jit_values, unsigned jit_count,
                                             int* options, void** values, unsigned count);
WARPMAT_DRIVER_API int cuLibraryUnload(Handle library);
WARPMAT_DRIVER_API int cuLibraryGetKernel(Handle* kernel, Handle library, const char* name);
WARPMAT_DRIVER_API int cuLibraryGetModule(Handle* module, Handle library);
WARPMAT_DRIVER_API int cuKernelGetFunction(Handle* function, Handle kernel);

WARPMAT_DRIVER_API int cuMemAlloc_v2(CUdeviceptr* address, std::size_t bytes);
WARPMAT_DRIVER_API int cuMemAllocPitch_v2(CUdeviceptr* address, std::size_t* pitch, std::size_t width, std::size_t height,
                                          unsigned element);
WARPMAT_DRIVER_API int cuMemAllocManaged(CUdeviceptr* address, std::size_t bytes, unsigned flags);
WARPMAT_DRIVER_API int cuMemAllocAsync(CUdeviceptr* address, std::size_t bytes, CUstream stream);
WARPMAT_DRIVER_API int cuMemAllocAsync_ptsz(CUdeviceptr* address, std::size_t bytes, CUstream stream);
WARPMAT_DRIVER_API int cuMemAllocFromPoolAsync(CUdeviceptr* address, std::size_t bytes, Handle pool, CUstream stream);
WARPMAT_DRIVER_API int cuMemAllocFromPoolAsync_ptsz(CUdeviceptr* address, std::size_t bytes, Handle pool, CUstream stream);
WARPMAT_DRIVER_API int cuMemFree_v2(CUdeviceptr address);
WARPMAT_DRIVER_API int cuMemFreeAsync(CUdeviceptr address, CUstream stream);
WARPMAT_DRIVER_API int cuMemFreeAsync_ptsz(CUdeviceptr address, CUstream stream);
WARPMAT_DRIVER_API int cuMemHostAlloc(void** address, std::size_t bytes, unsigned flags);
WARPMAT_DRIVER_API int cuMemAllocHost_v2(void** address, std::size_t bytes);
WARPMAT_DRIVER_API int cuMemFreeHost(void* address);
WARPMAT_DRIVER_API int cuMemHostRegister_v2(void* address, std::size_t bytes, unsigned flags);
WARPMAT_DRIVER_API int cuMemHostUnregister(void* address);
WARPMAT_DRIVER_API int cuMemMap(CUdeviceptr address, std::size_t bytes, std::size_t offset, unsigned long long handle,
                                unsigned long long flags);
WARPMAT_DRIVER_API int cuMemUnmap(CUdeviceptr address, std::size_t bytes);
WARPMAT_DRIVER_API int cuDevicePrimaryCtxReset_v2(CUdevice device);

WARPMAT_DRIVER_API int cuTensorMapEncodeTiled(void* map, int type, unsigned rank, void* address, const std::uint64_t* dims,
                                              const std::uint64_t* strides, const unsigned* box, const unsigned* element_strides,
                                              int interleave, int swizzle, int l2_promotion, int fill);
WARPMAT_DRIVER_API int cuTensorMapEncodeIm2col(void* map, int type, unsigned rank, void* address, const std::uint64_t* dims,
                                               const std::uint64_t* strides, const int* lower_corner, const int* upper_corner,
                                               unsigned channels, unsigned pixels, const unsigned* element_strides, int interleave,
                                               int swizzle, int l2_promotion, int fill);

WARPMAT_DRIVER_API int cuLaunchKernel(Handle function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                                      unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream, void** arguments,
                                      void** extra);
WARPMAT_DRIVER_API int cuLaunchKernel_ptsz(Handle function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                                           unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream, void** arguments,
                                           void** extra);
WARPMAT_DRIVER_API int cuLaunchCooperativeKernel(Handle function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                                                 unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream,
                                                 void** arguments);
WARPMAT_DRIVER_API int cuLaunchCooperativeKernel_ptsz(Handle function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                                                      unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream,
                                                      void** arguments);
WARPMAT_DRIVER_API int cuLaunchKernelEx(const CUlaunchConfig* config, Handle function, void** arguments, void** extra);
WARPMAT_DRIVER_API int cuLaunchKernelEx_ptsz(const CUlaunchConfig* config, Handle function, void** arguments, void** extra);
WARPMAT_DRIVER_API int cuGraphLaunch(Handle graph, CUstream stream);
WARPMAT_DRIVER_API int cuGraphLaunch_ptsz(Handle graph, CUstream stream);
WARPMAT_DRIVER_API int cuStreamBeginCapture(CUstream stream);
WARPMAT_DRIVER_API int cuStreamBeginCapture_ptsz(CUstream stream);
WARPMAT_DRIVER_API int cuStreamBeginCapture_v2(CUstream stream, int mode);
WARPMAT_DRIVER_API int cuStreamBeginCapture_v2_ptsz(CUstream stream, int mode);
WARPMAT_DRIVER_API int cuStreamBeginCaptureToGraph(CUstream stream, Handle graph, const Handle* nodes, const Handle* edges,
                                                   std::size_t count, int mode);
WARPMAT_DRIVER_API int cuStreamBeginCaptureToGraph_ptsz(CUstream stream, Handle graph, const Handle* nodes, const Handle* edges,
                                                        std::size_t count, int mode);
WARPMAT_DRIVER_API int cuStreamEndCapture(CUstream stream, Handle* graph);
WARPMAT_DRIVER_API int cuStreamEndCapture_ptsz(CUstream stream, Handle* graph);

// Functions that this library only calls.
extern "C" {
int cuCtxSynchronize();
int cuCtxGetDevice(CUdevice* device);
int cuDeviceGet(CUdevice* device, int number);
int cuDeviceGetAttribute(int* value, int attribute, CUdevice device);
int cuDeviceGetName(char* name, int length, CUdevice device);
int cuDriverGetVersion(int* version);
int cuMemcpyDtoH_v2(void* to, CUdeviceptr from, std::size_t bytes);
int cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, std::size_t bytes);
int cuModuleGetGlobal_v2(CUdeviceptr* address, std::size_t* bytes, Handle module, const char* name);
int cuFuncGetModule(Handle* module, Handle function);
int cuFuncGetName(const char** name, Handle function);
}

}  // namespace warpmat::programs
