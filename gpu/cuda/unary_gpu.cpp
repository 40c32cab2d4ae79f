#include "gpu/cuda/unary_gpu.h"

#include "gpu/cuda/driver.h"

namespace warpmat {
namespace {

class UnaryGpu : public UnaryFunction {
 public:
  UnaryGpu(const std::string& opcode, const Target& target) {
    check(driver_.device_get(&device_, 0), "cuDeviceGet");
    check(driver_.primary_context_retain(&context_, device_), "cuDevicePrimaryCtxRetain");
    check(driver_.context_set_current(context_), "cuCtxSetCurrent");
    module_ = assemble(unary_kernel(opcode, target));
    check(driver_.module_get_function(&function_, module_, "answers"), "cuModuleGetFunction");
  }
  UnaryGpu(const UnaryGpu&) = delete;
  UnaryGpu& operator=(const UnaryGpu&) = delete;

  ~UnaryGpu() override {
    release_memory();
    if (module_ != nullptr) driver_.module_unload(module_);
    driver_.primary_context_release(device_);
  }

  std::span<const std::uint32_t> answers(std::uint32_t first, std::size_t count) override {
    constexpr unsigned threads = 256;
    reserve(count);
    void* parameters[] = {&results_, &first};
    check(driver_.launch_kernel(function_, static_cast<unsigned>(count / threads), 1, 1, threads, 1, 1, 0, nullptr, parameters, nullptr),
          "cuLaunchKernel");
    check(driver_.copy_from_device(copy_, results_, count * sizeof(std::uint32_t)), "cuMemcpyDtoH");
    return {static_cast<const std::uint32_t*>(copy_), count};
  }

 private:
  void reserve(std::size_t count) {
    if (count <= capacity_) return;
    release_memory();
    check(driver_.memory_allocate(&results_, count * sizeof(std::uint32_t)), "cuMemAlloc");
    check(driver_.host_memory_allocate(&copy_, count * sizeof(std::uint32_t)), "cuMemAllocHost");
    capacity_ = count;
  }

  void release_memory() {
    if (results_ != 0) driver_.memory_free(results_);
    if (copy_ != nullptr) driver_.host_memory_free(copy_);
    results_ = 0;
    copy_ = nullptr;
  }

  const Driver& driver_ = Driver::get();
  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
  CUmodule module_ = nullptr;
  CUfunction function_ = nullptr;
  std::size_t capacity_ = 0;  ///< capacity in answers
  CUdeviceptr results_ = 0;
  void* copy_ = nullptr;  ///< of the results, if the card can write to host memory
};

}  // namespace

std::unique_ptr<UnaryFunction> open_unary_gpu(const std::string& opcode, const Target& target) {
  return std::make_unique<UnaryGpu>(opcode, target);
}

}  // namespace warpmat
