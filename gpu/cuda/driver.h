#pragma once

#include <chrono>
#include <cstddef>
#include <stdexcept>
#include <string>

#include "gpu/cuda/driver_api.h"

namespace warpmat {

/// A failed call to the CUDA driver: "cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY (out of memory)".
class DriverError : public std::runtime_error {
 public:
  DriverError(const char* call, CUresult result);

  CUresult result;
};

/// The CUDA driver's functions, loaded from the driver's library libcuda.so.1. Nothing links to it, so one binary runs with and without a
/// GPU.
class Driver {
 public:
  /// The loaded and initialised driver, always the same object. Throws NoGpu if there is no driver or no GPU.
  static const Driver& get();

  CUresult (*init)(unsigned flags);
  CUresult (*get_error_name)(CUresult error, const char** name);
  CUresult (*get_error_string)(CUresult error, const char** text);
  CUresult (*driver_get_version)(int* version);
  CUresult (*device_get_count)(int* count);
  CUresult (*device_get)(CUdevice* device, int number);
  CUresult (*device_get_name)(char* name, int size, CUdevice device);
  CUresult (*device_get_attribute)(int* value, CUdevice_attribute attribute, CUdevice device);
  CUresult (*primary_context_retain)(CUcontext* context, CUdevice device);
  CUresult (*primary_context_release)(CUdevice device);
  CUresult (*context_set_current)(CUcontext context);
  CUresult (*context_synchronize)();
  CUresult (*module_load_data)(CUmodule* module, const void* image, unsigned options, CUjit_option* names, void** values);
  CUresult (*module_get_function)(CUfunction* function, CUmodule module, const char* name);
  CUresult (*module_get_global)(CUdeviceptr* address, std::size_t* bytes, CUmodule module, const char* name);
  CUresult (*module_unload)(CUmodule module);
  CUresult (*link_create)(unsigned options, CUjit_option* names, void** values, CUlinkState* state);
  CUresult (*link_add_data)(CUlinkState state, CUjitInputType type, void* data, std::size_t size, const char* name, unsigned options,
                            CUjit_option* names, void** values);
  CUresult (*link_complete)(CUlinkState state, void** image, std::size_t* size);
  CUresult (*link_destroy)(CUlinkState state);
  CUresult (*function_set_attribute)(CUfunction function, CUfunction_attribute attribute, int value);
  CUresult (*launch_kernel)(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                            unsigned block_z, unsigned shared_bytes, CUstream stream, void** parameters, void** extra);
  /// For clusters and tensor maps; nullptr in old drivers.
  CUresult (*launch_kernel_ex)(const CUlaunchConfig* config, CUfunction function, void** parameters, void** extra);
  /// Types and modes are the driver's enumerations.
  CUresult (*tensor_map_encode_im2col)(CUtensorMap* map, unsigned type, unsigned rank, void* address, const unsigned long long* dims,
                                       const unsigned long long* strides, const int* lower_corner, const int* upper_corner,
                                       unsigned channels, unsigned pixels, const unsigned* element_strides, unsigned interleave,
                                       unsigned swizzle, unsigned l2_promotion, unsigned fill);
  CUresult (*tensor_map_encode_tiled)(CUtensorMap* map, unsigned type, unsigned rank, void* address, const unsigned long long* dims,
                                      const unsigned long long* strides, const unsigned* box, const unsigned* element_strides,
                                      unsigned interleave, unsigned swizzle, unsigned l2_promotion, unsigned fill);
  CUresult (*event_create)(CUevent* event, unsigned flags);
  CUresult (*event_record)(CUevent event, CUstream stream);
  CUresult (*event_query)(CUevent event);
  CUresult (*event_destroy)(CUevent event);
  CUresult (*memory_allocate)(CUdeviceptr* address, std::size_t bytes);
  CUresult (*memory_free)(CUdeviceptr address);
  CUresult (*host_memory_allocate)(void** address, std::size_t bytes);
  CUresult (*host_memory_free)(void* address);
  CUresult (*copy_to_device)(CUdeviceptr to, const void* from, std::size_t bytes);
  CUresult (*copy_from_device)(void* to, CUdeviceptr from, std::size_t bytes);
  CUresult (*copy_rows)(const CUDA_MEMCPY2D* copy);

 private:
  Driver();
  template <typename Function>
  void find(Function& function, const char* name);
  /// A function that drivers before CUDA 12 lack; it is nullptr there.
  template <typename Function>
  void find_newer(Function& function, const char* name);

  void* library_;
};

/// Throws DriverError unless `result` is CUDA_SUCCESS. `call` names the function.
void check(CUresult result, const char* call);

/// The module that the driver's assembler makes from a text. Throws std::runtime_error with the assembler's message.
CUmodule assemble(const std::string& text);

/// Waits until `event` has happened or `limit` has passed. Returns CUDA_ERROR_NOT_READY after the limit, else the launched kernel's result.
CUresult wait_for(CUevent event, std::chrono::seconds limit);

/// The version of the installed driver, "580.159.04"; "unknown" if the driver's management library does not report it.
std::string installed_driver_version();

}  // namespace warpmat
