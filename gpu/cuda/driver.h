#pragma once

#include <cuda.h>

#include <stdexcept>
#include <string>

namespace warpmat {

/// A call to the CUDA driver that failed: "cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY (out of memory)".
class DriverError : public std::runtime_error {
 public:
  DriverError(const char* call, CUresult result);

  CUresult result;
};

/// The CUDA driver's functions, from the library libcuda.so.1 that the driver installs. Nothing links to it, so that one binary runs with
/// and without a GPU.
class Driver {
 public:
  /// The loaded and initialized driver. Throws NoGpu where there is none, or no GPU; the same every time.
  static const Driver& get();

  decltype(&::cuInit) init;
  decltype(&::cuGetErrorName) get_error_name;
  decltype(&::cuGetErrorString) get_error_string;
  decltype(&::cuDriverGetVersion) driver_get_version;
  decltype(&::cuDeviceGetCount) device_get_count;
  decltype(&::cuDeviceGet) device_get;
  decltype(&::cuDeviceGetName) device_get_name;
  decltype(&::cuDeviceGetAttribute) device_get_attribute;
  decltype(&::cuDevicePrimaryCtxRetain) primary_context_retain;
  decltype(&::cuDevicePrimaryCtxRelease) primary_context_release;
  decltype(&::cuCtxSetCurrent) context_set_current;
  decltype(&::cuModuleLoadDataEx) module_load_data;
  decltype(&::cuModuleGetFunction) module_get_function;
  decltype(&::cuModuleUnload) module_unload;
  decltype(&::cuLinkCreate) link_create;
  decltype(&::cuLinkAddData) link_add_data;
  decltype(&::cuLinkComplete) link_complete;
  decltype(&::cuLinkDestroy) link_destroy;
  decltype(&::cuFuncSetAttribute) function_set_attribute;
  decltype(&::cuLaunchKernel) launch_kernel;
  decltype(&::cuEventCreate) event_create;
  decltype(&::cuEventRecord) event_record;
  decltype(&::cuEventQuery) event_query;
  decltype(&::cuEventDestroy) event_destroy;
  decltype(&::cuMemAlloc) memory_allocate;
  decltype(&::cuMemFree) memory_free;
  decltype(&::cuMemcpyHtoD) copy_to_device;
  decltype(&::cuMemcpyDtoH) copy_from_device;
  decltype(&::cuMemcpy2D) copy_rows;

 private:
  Driver();
  template <typename Function>
  void find(Function& function, const char* name);

  void* library_;
};

/// Throws DriverError unless `result` is CUDA_SUCCESS. `call` names the function.
void check(CUresult result, const char* call);

/// The version of the installed driver, "580.159.04"; "unknown" where the driver's management library does not say.
std::string installed_driver_version();

}  // namespace warpmat
