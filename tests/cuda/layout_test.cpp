// Holds emulator/warpmat/cuda/types.h and error_table.inc against the CUDA Toolkit's headers, where these are. The checks are made when
// this file is compiled.

#if __has_include(<cuda_runtime_api.h>)

#include <cuda_runtime_api.h>

#if CUDART_VERSION >= 13000

#include <cstddef>

#include <warpmat/cuda/types.h>

namespace {

namespace ours = warpmat::cuda;

#define WARPMAT_CUDA_ERROR(name, code) static_assert(static_cast<int>(::name) == code);
#include <warpmat/cuda/error_table.inc>
#undef WARPMAT_CUDA_ERROR

#define WARPMAT_SAME_SIZE(mine, theirs) static_assert(sizeof(ours::mine) == sizeof(::theirs) && alignof(ours::mine) == alignof(::theirs))
WARPMAT_SAME_SIZE(GridSize, dim3);
WARPMAT_SAME_SIZE(DeviceProperties, cudaDeviceProp);
WARPMAT_SAME_SIZE(FunctionAttributes, cudaFuncAttributes);
WARPMAT_SAME_SIZE(PointerAttributes, cudaPointerAttributes);
WARPMAT_SAME_SIZE(Copy3D, cudaMemcpy3DParms);
WARPMAT_SAME_SIZE(MemoryLocation, cudaMemLocation);
WARPMAT_SAME_SIZE(LaunchAttribute, cudaLaunchAttribute);
WARPMAT_SAME_SIZE(LaunchConfiguration, cudaLaunchConfig_t);

#define WARPMAT_SAME_MEMBER(mine, theirs, member) static_assert(offsetof(ours::mine, member) == offsetof(::theirs, member))
#define WARPMAT_SAME_PROPERTY(member) WARPMAT_SAME_MEMBER(DeviceProperties, cudaDeviceProp, member)
WARPMAT_SAME_PROPERTY(totalGlobalMem);
WARPMAT_SAME_PROPERTY(sharedMemPerBlock);
WARPMAT_SAME_PROPERTY(maxThreadsPerBlock);
WARPMAT_SAME_PROPERTY(totalConstMem);
WARPMAT_SAME_PROPERTY(major);
WARPMAT_SAME_PROPERTY(multiProcessorCount);
WARPMAT_SAME_PROPERTY(canMapHostMemory);
WARPMAT_SAME_PROPERTY(surfaceAlignment);
WARPMAT_SAME_PROPERTY(concurrentKernels);
WARPMAT_SAME_PROPERTY(unifiedAddressing);
WARPMAT_SAME_PROPERTY(l2CacheSize);
WARPMAT_SAME_PROPERTY(maxThreadsPerMultiProcessor);
WARPMAT_SAME_PROPERTY(sharedMemPerMultiprocessor);
WARPMAT_SAME_PROPERTY(managedMemory);
WARPMAT_SAME_PROPERTY(cooperativeLaunch);
WARPMAT_SAME_PROPERTY(sharedMemPerBlockOptin);
WARPMAT_SAME_PROPERTY(reservedSharedMemPerBlock);
WARPMAT_SAME_PROPERTY(memoryPoolsSupported);
WARPMAT_SAME_PROPERTY(clusterLaunch);
WARPMAT_SAME_PROPERTY(unifiedFunctionPointers);

WARPMAT_SAME_MEMBER(FunctionAttributes, cudaFuncAttributes, numRegs);
WARPMAT_SAME_MEMBER(FunctionAttributes, cudaFuncAttributes, maxDynamicSharedSizeBytes);
WARPMAT_SAME_MEMBER(FunctionAttributes, cudaFuncAttributes, nonPortableClusterSizeAllowed);
WARPMAT_SAME_MEMBER(PointerAttributes, cudaPointerAttributes, hostPointer);
WARPMAT_SAME_MEMBER(Copy3D, cudaMemcpy3DParms, dstPtr);
WARPMAT_SAME_MEMBER(Copy3D, cudaMemcpy3DParms, kind);
WARPMAT_SAME_MEMBER(LaunchConfiguration, cudaLaunchConfig_t, dynamicSmemBytes);
WARPMAT_SAME_MEMBER(LaunchConfiguration, cudaLaunchConfig_t, attrs);

static_assert(static_cast<int>(ours::by_address) == cudaMemcpyDefault);
static_assert(static_cast<int>(ours::device_to_host) == cudaMemcpyDeviceToHost);
static_assert(static_cast<int>(ours::managed_memory) == cudaMemoryTypeManaged);

}  // namespace

#endif
#endif
