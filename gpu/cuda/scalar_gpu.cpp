#include "gpu/cuda/scalar_gpu.h"

#include <algorithm>
#include <array>
#include <map>

#include <fmt/core.h>

#include "gpu/cuda/driver.h"
#include "gpu/runners/scalar_kernel.h"

namespace warpmat {
namespace {

class CudaScalarGpu : public ScalarGpu {
 public:
  CudaScalarGpu(const Target& target, PtxVersion version) : target_(target), version_(version) {
    const Driver& driver = Driver::get();
    check(driver.device_get(&device_, 0), "cuDeviceGet");
    check(driver.primary_context_retain(&context_, device_), "cuDevicePrimaryCtxRetain");
    check(driver.context_set_current(context_), "cuCtxSetCurrent");
  }
  CudaScalarGpu(const CudaScalarGpu&) = delete;
  CudaScalarGpu& operator=(const CudaScalarGpu&) = delete;

  ~CudaScalarGpu() override {
    const Driver& driver = Driver::get();
    driver.context_set_current(context_);
    unload();
    for (const auto& [host, device] : sources_) driver.memory_free(device);
    for (const CUdeviceptr result : results_)
      if (result != 0) driver.memory_free(result);
    driver.primary_context_release(device_);
  }

  /// Operands are copied to the GPU when a case first reads them, and kept there.
  void use(const ScalarOperands& operands) override {
    check(Driver::get().context_set_current(context_), "cuCtxSetCurrent");
    for (CUdeviceptr& result : results_)
      if (operands.count() > result_count_) {
        if (result != 0) check(Driver::get().memory_free(result), "cuMemFree");
        check(Driver::get().memory_allocate(&result, operands.count() * sizeof(std::uint64_t)), "cuMemAlloc");
      }
    result_count_ = std::max(result_count_, operands.count());
    operands_ = &operands;
  }

  void load(std::span<const ScalarCase> cases) override {
    const Driver& driver = Driver::get();
    check(driver.context_set_current(context_), "cuCtxSetCurrent");
    unload();
    module_ = assemble(scalar_module(cases, target_, version_));
    for (std::size_t i = 0; i < cases.size(); ++i)
      check(driver.module_get_function(&functions_.emplace_back(), module_, fmt::format("scalar_{}", i).c_str()), "cuModuleGetFunction");
  }

  void run(std::size_t place, const ScalarCase& shown, ScalarResults& results) override {
    const Driver& driver = Driver::get();
    constexpr unsigned threads = 256;
    std::array<CUdeviceptr, 10> addresses{};
    std::array<void*, 10> parameters{};
    std::size_t count = 0;
    for (std::size_t i = 0; i < shown.results.size(); ++i) addresses[count++] = results_[i];
    for (std::size_t i = 0; i < shown.sources.size(); ++i) addresses[count++] = source(shown.sources[i], i);
    for (std::size_t i = 0; i < count; ++i) parameters[i] = &addresses[i];
    const auto blocks = static_cast<unsigned>(operands_->count() / threads);
    check(driver.launch_kernel(functions_.at(place), blocks, 1, 1, threads, 1, 1, 0, nullptr, parameters.data(), nullptr),
          "cuLaunchKernel");
    for (std::size_t i = 0; i < shown.results.size(); ++i)
      check(driver.copy_from_device(results.data(i), results_[i], operands_->count() * element_bytes(shown.results[i])), "cuMemcpyDtoH");
  }

 private:
  static std::size_t element_bytes(const ScalarOperand& operand) { return operand.is_wide() ? 8 : 4; }

  CUdeviceptr source(const ScalarOperand& operand, std::size_t i) {
    const void* const host = operands_->data(operand, i);
    const auto [found, is_new] = sources_.try_emplace(host, 0);
    if (is_new) {
      const std::size_t bytes = operands_->count() * element_bytes(operand);
      check(Driver::get().memory_allocate(&found->second, bytes), "cuMemAlloc");
      check(Driver::get().copy_to_device(found->second, host, bytes), "cuMemcpyHtoD");
    }
    return found->second;
  }

  void unload() {
    if (module_ != nullptr) Driver::get().module_unload(module_);
    module_ = nullptr;
    functions_.clear();
  }

  const Target& target_;
  PtxVersion version_;
  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
  CUmodule module_ = nullptr;
  std::vector<CUfunction> functions_;
  const ScalarOperands* operands_ = nullptr;
  std::map<const void*, CUdeviceptr> sources_;  ///< GPU copies of the operands' host arrays
  std::array<CUdeviceptr, 4> results_{};
  std::size_t result_count_ = 0;  ///< capacity of each result array, in elements
};

}  // namespace

std::unique_ptr<ScalarGpu> open_scalar_gpu(const Target& target, PtxVersion version) {
  int count = 0;
  check(Driver::get().device_get_count(&count), "cuDeviceGetCount");
  if (count == 0) throw NoGpu("no GPU: the CUDA driver finds none in this machine");
  return std::make_unique<CudaScalarGpu>(target, version);
}

}  // namespace warpmat
