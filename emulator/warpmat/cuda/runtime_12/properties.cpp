// cudaDeviceProp of CUDA 12 and 11.

#include <algorithm>
#include <cstring>
#include <span>

#include <warpmat/cuda/runtime_12/forward.h>
#include <warpmat/cuda/runtime_12/properties.h>
#include <warpmat/cuda/types.h>

namespace warpmat::inline v0_1::cuda {

WARPMAT_CUDA_13(cudaGetDeviceProperties)
WARPMAT_CUDA_13(cudaDeviceGetAttribute)

extern "C" {
Error runtime_13_cudaGetDeviceProperties(DeviceProperties* properties, int device);
Error runtime_13_cudaDeviceGetAttribute(int* value, int attribute, int device);
}

namespace {

/// The members that both versions have, except the limits of textures.
#define WARPMAT_CUDA_COMMON(COPY) \
  COPY(name) COPY(uuid) COPY(luid) COPY(luidDeviceNodeMask) COPY(totalGlobalMem) COPY(sharedMemPerBlock) COPY(regsPerBlock) \
  COPY(warpSize) COPY(memPitch) COPY(maxThreadsPerBlock) COPY(maxThreadsDim) COPY(maxGridSize) COPY(totalConstMem) COPY(major) \
  COPY(minor) COPY(textureAlignment) COPY(texturePitchAlignment) COPY(multiProcessorCount) COPY(integrated) COPY(canMapHostMemory) \
  COPY(surfaceAlignment) COPY(concurrentKernels) COPY(ECCEnabled) COPY(pciBusID) COPY(pciDeviceID) COPY(pciDomainID) COPY(tccDriver) \
  COPY(asyncEngineCount) COPY(unifiedAddressing) COPY(memoryBusWidth) COPY(l2CacheSize) COPY(persistingL2CacheMaxSize) \
  COPY(maxThreadsPerMultiProcessor) COPY(streamPrioritiesSupported) COPY(globalL1CacheSupported) COPY(localL1CacheSupported) \
  COPY(sharedMemPerMultiprocessor) COPY(regsPerMultiprocessor) COPY(managedMemory) COPY(isMultiGpuBoard) COPY(multiGpuBoardGroupID) \
  COPY(hostNativeAtomicSupported) COPY(pageableMemoryAccess) COPY(concurrentManagedAccess) COPY(computePreemptionSupported) \
  COPY(canUseHostPointerForRegisteredMem) COPY(cooperativeLaunch) COPY(sharedMemPerBlockOptin) \
  COPY(pageableMemoryAccessUsesHostPageTables) COPY(directManagedMemAccessFromHost) COPY(maxBlocksPerMultiProcessor) \
  COPY(accessPolicyMaxWindowSize) COPY(reservedSharedMemPerBlock) COPY(hostRegisterSupported) COPY(sparseCudaArraySupported) \
  COPY(hostRegisterReadOnlySupported) COPY(timelineSemaphoreInteropSupported) COPY(memoryPoolsSupported) COPY(gpuDirectRDMASupported) \
  COPY(gpuDirectRDMAFlushWritesOptions) COPY(gpuDirectRDMAWritesOrdering) COPY(memoryPoolSupportedHandleTypes) \
  COPY(deferredMappingCudaArraySupported) COPY(ipcEventSupported) COPY(clusterLaunch) COPY(unifiedFunctionPointers)

template <typename T>
void copy(T& to, const T& from) {
  std::memcpy(&to, &from, sizeof to);
}

DeviceProperties12 converted(const DeviceProperties& from, int device) {
  const auto attribute = [device](int number) {  // cudaDeviceAttr
    int value = 0;
    runtime_13_cudaDeviceGetAttribute(&value, number, device);
    return value;
  };
  DeviceProperties12 to{};
#define WARPMAT_CUDA_COPY(member) copy(to.member, from.member);
  WARPMAT_CUDA_COMMON(WARPMAT_CUDA_COPY)
#undef WARPMAT_CUDA_COPY
  to.maxTexture1D = from.textures[0];
  to.maxTexture1DMipmap = from.textures[1];
  to.maxTexture1DLinear = attribute(69);
  std::ranges::copy(std::span(from.textures).subspan(2), to.textures);
  to.clockRate = attribute(13);
  to.deviceOverlap = attribute(15);
  to.kernelExecTimeoutEnabled = attribute(17);
  to.computeMode = attribute(20);
  to.memoryClockRate = attribute(36);
  to.singleToDoublePrecisionPerfRatio = attribute(87);
  return to;
}

Error get(void* properties, int device, std::size_t bytes) {
  DeviceProperties current{};
  const Error error = runtime_13_cudaGetDeviceProperties(properties == nullptr ? nullptr : &current, device);
  if (error != cudaSuccess) return error;
  const DeviceProperties12 all = converted(current, device);
  std::memcpy(properties, &all, bytes);
  return error;
}

}  // namespace

WARPMAT_CUDA_API Error cudaGetDeviceProperties_v2(DeviceProperties12* properties, int device) {
  return get(properties, device, sizeof *properties);
}

WARPMAT_CUDA_API Error cudaGetDeviceProperties(void* properties, int device) {
  return get(properties, device, device_properties_11_bytes);
}

}  // namespace warpmat::inline v0_1::cuda
