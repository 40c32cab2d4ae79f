#include "gpu/cuda/driver.h"

#include <dlfcn.h>

#include <array>
#include <thread>

#include <fmt/core.h>

#include "gpu/cuda/gpu_runner.h"

namespace warpmat {
namespace {

std::string reason(const Driver& driver, CUresult result) {
  const char* name = nullptr;
  const char* text = nullptr;
  if (driver.get_error_name(result, &name) != CUDA_SUCCESS || driver.get_error_string(result, &text) != CUDA_SUCCESS)
    return fmt::format("CUDA error {}", static_cast<int>(result));
  return fmt::format("{} ({})", name, text);
}

}  // namespace

DriverError::DriverError(const char* call, CUresult result_)
    : std::runtime_error(fmt::format("{}: {}", call, reason(Driver::get(), result_))), result(result_) {}

void check(CUresult result, const char* call) {
  if (result != CUDA_SUCCESS) throw DriverError(call, result);
}

const Driver& Driver::get() {
  static const Driver driver;
  return driver;
}

template <typename Function>
void Driver::find(Function& function, const char* name) {
  function = reinterpret_cast<Function>(dlsym(library_, name));
  if (function == nullptr) throw NoGpu(fmt::format("no GPU: the installed CUDA driver is too old, it has no {}", name));
}

template <typename Function>
void Driver::find_newer(Function& function, const char* name) {
  function = reinterpret_cast<Function>(dlsym(library_, name));
}

Driver::Driver() : library_(dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL)) {
  if (library_ == nullptr) throw NoGpu("no GPU: this machine has no CUDA driver (libcuda.so.1)");
  find(init, "cuInit");
  find(get_error_name, "cuGetErrorName");
  find(get_error_string, "cuGetErrorString");
  find(driver_get_version, "cuDriverGetVersion");
  find(device_get_count, "cuDeviceGetCount");
  find(device_get, "cuDeviceGet");
  find(device_get_name, "cuDeviceGetName");
  find(device_get_attribute, "cuDeviceGetAttribute");
  find(primary_context_retain, "cuDevicePrimaryCtxRetain");
  find(primary_context_release, "cuDevicePrimaryCtxRelease_v2");
  find(context_set_current, "cuCtxSetCurrent");
  find(context_synchronize, "cuCtxSynchronize");
  find(module_load_data, "cuModuleLoadDataEx");
  find(module_get_function, "cuModuleGetFunction");
  find(module_get_global, "cuModuleGetGlobal_v2");
  find(module_unload, "cuModuleUnload");
  find(link_create, "cuLinkCreate_v2");
  find(link_add_data, "cuLinkAddData_v2");
  find(link_complete, "cuLinkComplete");
  find(link_destroy, "cuLinkDestroy");
  find(function_set_attribute, "cuFuncSetAttribute");
  find(launch_kernel, "cuLaunchKernel");
  find(event_create, "cuEventCreate");
  find(event_record, "cuEventRecord");
  find(event_query, "cuEventQuery");
  find(event_destroy, "cuEventDestroy_v2");
  find(memory_allocate, "cuMemAlloc_v2");
  find(memory_free, "cuMemFree_v2");
  find(host_memory_allocate, "cuMemAllocHost_v2");
  find(host_memory_free, "cuMemFreeHost");
  find(copy_to_device, "cuMemcpyHtoD_v2");
  find(copy_from_device, "cuMemcpyDtoH_v2");
  find(copy_rows, "cuMemcpy2D_v2");
  find_newer(launch_kernel_ex, "cuLaunchKernelEx");
  find_newer(tensor_map_encode_tiled, "cuTensorMapEncodeTiled");
  find_newer(tensor_map_encode_im2col, "cuTensorMapEncodeIm2col");
  const CUresult result = init(0);
  if (result != CUDA_SUCCESS) throw NoGpu(fmt::format("no GPU: the CUDA driver does not start: {}", reason(*this, result)));
}

CUmodule assemble(const std::string& text) {
  std::array<char, 4096> log{};
  std::array options{CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  std::array values{static_cast<void*>(log.data()), reinterpret_cast<void*>(log.size())};
  CUmodule module = nullptr;
  const CUresult result = Driver::get().module_load_data(&module, text.c_str(), options.size(), options.data(), values.data());
  if (result != CUDA_SUCCESS) throw std::runtime_error(log[0] != 0 ? log.data() : DriverError("cuModuleLoadDataEx", result).what());
  return module;
}

CUresult wait_for(CUevent event, std::chrono::seconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  CUresult result = Driver::get().event_query(event);
  while (result == CUDA_ERROR_NOT_READY && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::microseconds(50));
    result = Driver::get().event_query(event);
  }
  return result;
}

std::string installed_driver_version() {
  // NVML, the management library: int nvmlInit_v2(), int nvmlSystemGetDriverVersion(char*, unsigned); 0 is success.
  std::string version = "unknown";
  void* const library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return version;
  const auto start = reinterpret_cast<int (*)()>(dlsym(library, "nvmlInit_v2"));
  const auto stop = reinterpret_cast<int (*)()>(dlsym(library, "nvmlShutdown"));
  const auto get = reinterpret_cast<int (*)(char*, unsigned)>(dlsym(library, "nvmlSystemGetDriverVersion"));
  if (start != nullptr && stop != nullptr && get != nullptr && start() == 0) {
    std::array<char, 80> text{};
    if (get(text.data(), text.size()) == 0) version = text.data();
    stop();
  }
  dlclose(library);
  return version;
}

}  // namespace warpmat
