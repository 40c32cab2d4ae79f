#include "gpu/lab/constants/constant_gpu.h"

#include <algorithm>
#include <array>

#include "gpu/cuda/driver.h"

namespace warpmat {
namespace {

/// Memory of the device, freed with this.
class DeviceWords {
 public:
  explicit DeviceWords(std::size_t words) {
    check(Driver::get().memory_allocate(&address_, std::max<std::size_t>(words, 1) * sizeof(std::uint64_t)), "cuMemAlloc");
  }
  DeviceWords(const DeviceWords&) = delete;
  DeviceWords& operator=(const DeviceWords&) = delete;
  ~DeviceWords() { Driver::get().memory_free(address_); }

  CUdeviceptr& address() { return address_; }

 private:
  CUdeviceptr address_ = 0;
};

class CudaConstantGpu : public ConstantRunner {
 public:
  CudaConstantGpu() {
    const Driver& driver = Driver::get();
    check(driver.device_get(&device_, 0), "cuDeviceGet");
    check(driver.primary_context_retain(&context_, device_), "cuDevicePrimaryCtxRetain");
  }
  CudaConstantGpu(const CudaConstantGpu&) = delete;
  CudaConstantGpu& operator=(const CudaConstantGpu&) = delete;

  ~CudaConstantGpu() override {
    const Driver& driver = Driver::get();
    driver.context_set_current(context_);
    if (module_ != nullptr) driver.module_unload(module_);
    driver.primary_context_release(device_);
  }

  void load(const std::string& text) override {
    const Driver& driver = Driver::get();
    check(driver.context_set_current(context_), "cuCtxSetCurrent");
    if (module_ != nullptr) driver.module_unload(module_);
    module_ = nullptr;
    module_ = assemble(text);
  }

  std::vector<std::uint64_t> run(const std::string& entry, std::span<const std::uint64_t> operands, std::size_t results) override {
    const Driver& driver = Driver::get();
    check(driver.context_set_current(context_), "cuCtxSetCurrent");
    CUfunction function = nullptr;
    check(driver.module_get_function(&function, module_, entry.c_str()), "cuModuleGetFunction");
    DeviceWords from(operands.size()), to(results);
    std::vector<std::uint64_t> words(results);
    if (!operands.empty()) check(driver.copy_to_device(from.address(), operands.data(), operands.size_bytes()), "cuMemcpyHtoD");
    check(driver.copy_to_device(to.address(), words.data(), results * sizeof(std::uint64_t)), "cuMemcpyHtoD");
    std::array<void*, 2> parameters{&to.address(), &from.address()};
    check(driver.launch_kernel(function, 1, 1, 1, 32, 1, 1, 0, nullptr, parameters.data(), nullptr), "cuLaunchKernel");
    check(driver.copy_from_device(words.data(), to.address(), results * sizeof(std::uint64_t)), "cuMemcpyDtoH");
    return words;
  }

 private:
  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
  CUmodule module_ = nullptr;
};

}  // namespace

std::unique_ptr<ConstantRunner> open_constant_gpu() {
  int count = 0;
  check(Driver::get().device_get_count(&count), "cuDeviceGetCount");
  if (count == 0) throw NoGpu("no GPU: the CUDA driver finds none in this machine");
  return std::make_unique<CudaConstantGpu>();
}

}  // namespace warpmat
