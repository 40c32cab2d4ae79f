#include "gpu/cuda/driver.h"

#include <dlfcn.h>

#include <array>

#include <fmt/format.h>

#include "gpu/cuda/gpu_runner.h"

namespace warpmat {
namespace {

// The names that cuda.h gives the functions are macros for versioned ones.
#define WARPMAT_SPELL(name) #name
#define WARPMAT_SYMBOL(name) WARPMAT_SPELL(name)

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

Driver::Driver() : library_(dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL)) {
  if (library_ == nullptr) throw NoGpu("no GPU: this machine has no CUDA driver (libcuda.so.1)");
  find(init, WARPMAT_SYMBOL(cuInit));
  find(get_error_name, WARPMAT_SYMBOL(cuGetErrorName));
  find(get_error_string, WARPMAT_SYMBOL(cuGetErrorString));
  find(driver_get_version, WARPMAT_SYMBOL(cuDriverGetVersion));
  find(device_get_count, WARPMAT_SYMBOL(cuDeviceGetCount));
  find(device_get, WARPMAT_SYMBOL(cuDeviceGet));
  find(device_get_name, WARPMAT_SYMBOL(cuDeviceGetName));
  find(device_get_attribute, WARPMAT_SYMBOL(cuDeviceGetAttribute));
  find(primary_context_retain, WARPMAT_SYMBOL(cuDevicePrimaryCtxRetain));
  find(primary_context_release, WARPMAT_SYMBOL(cuDevicePrimaryCtxRelease));
  find(context_set_current, WARPMAT_SYMBOL(cuCtxSetCurrent));
  find(module_load_data, WARPMAT_SYMBOL(cuModuleLoadDataEx));
  find(module_get_function, WARPMAT_SYMBOL(cuModuleGetFunction));
  find(module_unload, WARPMAT_SYMBOL(cuModuleUnload));
  find(link_create, WARPMAT_SYMBOL(cuLinkCreate));
  find(link_add_data, WARPMAT_SYMBOL(cuLinkAddData));
  find(link_complete, WARPMAT_SYMBOL(cuLinkComplete));
  find(link_destroy, WARPMAT_SYMBOL(cuLinkDestroy));
  find(function_set_attribute, WARPMAT_SYMBOL(cuFuncSetAttribute));
  find(launch_kernel, WARPMAT_SYMBOL(cuLaunchKernel));
  find(event_create, WARPMAT_SYMBOL(cuEventCreate));
  find(event_record, WARPMAT_SYMBOL(cuEventRecord));
  find(event_query, WARPMAT_SYMBOL(cuEventQuery));
  find(event_destroy, WARPMAT_SYMBOL(cuEventDestroy));
  find(memory_allocate, WARPMAT_SYMBOL(cuMemAlloc));
  find(memory_free, WARPMAT_SYMBOL(cuMemFree));
  find(copy_to_device, WARPMAT_SYMBOL(cuMemcpyHtoD));
  find(copy_from_device, WARPMAT_SYMBOL(cuMemcpyDtoH));
  find(copy_rows, WARPMAT_SYMBOL(cuMemcpy2D));
  const CUresult result = init(0);
  if (result != CUDA_SUCCESS) throw NoGpu(fmt::format("no GPU: the CUDA driver does not start: {}", reason(*this, result)));
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
