// Holds gpu/cuda/driver_api.h and the signatures of gpu/cuda/driver.h against the CUDA Toolkit's own header, where that is installed. The
// checks are made when this file is compiled.

#if __has_include(<cuda.h>)

#include <cuda.h>

#include <cstddef>
#include <type_traits>

#include "gpu/cuda/driver.h"

#define WARPMAT_SAME_CONSTANT(name) static_assert(static_cast<int>(warpmat::name) == static_cast<int>(::name))
#define WARPMAT_SAME_SIZE(name) static_assert(sizeof(warpmat::name) == sizeof(::name) && alignof(warpmat::name) == alignof(::name))
#define WARPMAT_SAME_MEMBER(name) static_assert(offsetof(warpmat::CUDA_MEMCPY2D, name) == offsetof(::CUDA_MEMCPY2D, name))

WARPMAT_SAME_CONSTANT(CUDA_SUCCESS);
WARPMAT_SAME_CONSTANT(CUDA_ERROR_OUT_OF_MEMORY);
WARPMAT_SAME_CONSTANT(CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
WARPMAT_SAME_CONSTANT(CUDA_ERROR_NOT_READY);
WARPMAT_SAME_CONSTANT(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
WARPMAT_SAME_CONSTANT(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
WARPMAT_SAME_CONSTANT(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
WARPMAT_SAME_CONSTANT(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
WARPMAT_SAME_CONSTANT(CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED);
WARPMAT_SAME_CONSTANT(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
WARPMAT_SAME_CONSTANT(CU_JIT_ERROR_LOG_BUFFER);
WARPMAT_SAME_CONSTANT(CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
WARPMAT_SAME_CONSTANT(CU_JIT_INPUT_PTX);
WARPMAT_SAME_CONSTANT(CU_MEMORYTYPE_HOST);
WARPMAT_SAME_CONSTANT(CU_MEMORYTYPE_DEVICE);
WARPMAT_SAME_CONSTANT(CU_EVENT_DISABLE_TIMING);

WARPMAT_SAME_SIZE(CUresult);
WARPMAT_SAME_SIZE(CUdevice);
WARPMAT_SAME_SIZE(CUdeviceptr);
WARPMAT_SAME_SIZE(CUcontext);
WARPMAT_SAME_SIZE(CUdevice_attribute);
WARPMAT_SAME_SIZE(CUfunction_attribute);
WARPMAT_SAME_SIZE(CUjit_option);
WARPMAT_SAME_SIZE(CUjitInputType);
WARPMAT_SAME_SIZE(CUDA_MEMCPY2D);
WARPMAT_SAME_SIZE(CUtensorMap);
WARPMAT_SAME_SIZE(CUlaunchAttribute);
WARPMAT_SAME_SIZE(CUlaunchConfig);
WARPMAT_SAME_MEMBER(srcMemoryType);
WARPMAT_SAME_MEMBER(srcHost);
WARPMAT_SAME_MEMBER(srcDevice);
WARPMAT_SAME_MEMBER(srcArray);
WARPMAT_SAME_MEMBER(srcPitch);
WARPMAT_SAME_MEMBER(dstXInBytes);
WARPMAT_SAME_MEMBER(dstY);
WARPMAT_SAME_MEMBER(dstMemoryType);
WARPMAT_SAME_MEMBER(dstHost);
WARPMAT_SAME_MEMBER(dstDevice);
WARPMAT_SAME_MEMBER(dstArray);
WARPMAT_SAME_MEMBER(dstPitch);
WARPMAT_SAME_MEMBER(WidthInBytes);
WARPMAT_SAME_MEMBER(Height);

namespace {

/// How an argument is passed: its size and whether it is a pointer. Types of the two headers have different names.
template <typename A, typename B>
constexpr bool passed_alike =
    sizeof(A) == sizeof(B) && std::is_pointer_v<A> == std::is_pointer_v<B>&& std::is_signed_v<A> == std::is_signed_v<B>;

template <typename Ours, typename Theirs>
constexpr bool alike = false;
template <typename... Ours, typename... Theirs>
constexpr bool alike<warpmat::CUresult (*)(Ours...), ::CUresult (*)(Theirs...)> = [] {
  if constexpr (sizeof...(Ours) == sizeof...(Theirs)) return (passed_alike<Ours, Theirs> && ...);
  return false;
}();

}  // namespace

// The names on the right are cuda.h's macros for the functions that driver.cpp looks up.
#define WARPMAT_ALIKE(member, function) static_assert(alike<decltype(warpmat::Driver::member), decltype(&::function)>)
WARPMAT_ALIKE(init, cuInit);
WARPMAT_ALIKE(get_error_name, cuGetErrorName);
WARPMAT_ALIKE(get_error_string, cuGetErrorString);
WARPMAT_ALIKE(driver_get_version, cuDriverGetVersion);
WARPMAT_ALIKE(device_get_count, cuDeviceGetCount);
WARPMAT_ALIKE(device_get, cuDeviceGet);
WARPMAT_ALIKE(device_get_name, cuDeviceGetName);
WARPMAT_ALIKE(device_get_attribute, cuDeviceGetAttribute);
WARPMAT_ALIKE(primary_context_retain, cuDevicePrimaryCtxRetain);
WARPMAT_ALIKE(primary_context_release, cuDevicePrimaryCtxRelease);
WARPMAT_ALIKE(context_set_current, cuCtxSetCurrent);
WARPMAT_ALIKE(context_synchronize, cuCtxSynchronize);
WARPMAT_ALIKE(module_load_data, cuModuleLoadDataEx);
WARPMAT_ALIKE(module_get_function, cuModuleGetFunction);
WARPMAT_ALIKE(module_unload, cuModuleUnload);
WARPMAT_ALIKE(link_create, cuLinkCreate);
WARPMAT_ALIKE(link_add_data, cuLinkAddData);
WARPMAT_ALIKE(link_complete, cuLinkComplete);
WARPMAT_ALIKE(link_destroy, cuLinkDestroy);
WARPMAT_ALIKE(function_set_attribute, cuFuncSetAttribute);
WARPMAT_ALIKE(launch_kernel, cuLaunchKernel);
WARPMAT_ALIKE(launch_kernel_ex, cuLaunchKernelEx);
WARPMAT_ALIKE(tensor_map_encode_tiled, cuTensorMapEncodeTiled);
WARPMAT_ALIKE(event_create, cuEventCreate);
WARPMAT_ALIKE(event_record, cuEventRecord);
WARPMAT_ALIKE(event_query, cuEventQuery);
WARPMAT_ALIKE(event_destroy, cuEventDestroy);
WARPMAT_ALIKE(memory_allocate, cuMemAlloc);
WARPMAT_ALIKE(memory_free, cuMemFree);
WARPMAT_ALIKE(host_memory_allocate, cuMemAllocHost);
WARPMAT_ALIKE(host_memory_free, cuMemFreeHost);
WARPMAT_ALIKE(copy_to_device, cuMemcpyHtoD);
WARPMAT_ALIKE(copy_from_device, cuMemcpyDtoH);
WARPMAT_ALIKE(copy_rows, cuMemcpy2D);

#endif
