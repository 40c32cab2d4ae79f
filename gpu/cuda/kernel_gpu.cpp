#include "gpu/cuda/kernel_gpu.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <thread>

#include <fmt/core.h>

#include "gpu/cuda/captured_output.h"
#include "gpu/cuda/driver.h"

namespace warpmat {
namespace {

constexpr std::uint64_t portable_cluster = 8;  // blocks that every GPU with clusters supports

/// The driver's 128 bytes of a tensor map. Throws DriverError if the driver refuses it.
TensorMap::Encoded encode_map(const TensorMap::Arguments& map) {
  const Driver& driver = Driver::get();
  if (driver.tensor_map_encode_tiled == nullptr || driver.tensor_map_encode_im2col == nullptr)
    throw std::runtime_error("the installed CUDA driver makes no tensor maps");
  CUtensorMap encoded{};
  std::array<unsigned long long, TensorMap::max_dimensions> dims{}, strides{};
  std::ranges::copy(map.dims, dims.begin());
  std::ranges::copy(map.strides, strides.begin());
  const auto type = static_cast<unsigned>(map.type), interleave = static_cast<unsigned>(map.interleave),
             swizzle = static_cast<unsigned>(map.swizzle), promotion = static_cast<unsigned>(map.l2_promotion),
             fill = static_cast<unsigned>(map.fill);
  void* const address = reinterpret_cast<void*>(map.address);
  if (map.mode == TensorMap::Mode::tile) {
    check(driver.tensor_map_encode_tiled(&encoded, type, map.rank, address, dims.data(), strides.data(), map.box.data(),
                                         map.element_strides.data(), interleave, swizzle, promotion, fill),
          "cuTensorMapEncodeTiled");
  } else {
    check(driver.tensor_map_encode_im2col(&encoded, type, map.rank, address, dims.data(), strides.data(), map.lower_corner.data(),
                                          map.upper_corner.data(), map.channels, map.pixels, map.element_strides.data(), interleave,
                                          swizzle, promotion, fill),
          "cuTensorMapEncodeIm2col");
  }
  TensorMap::Encoded bytes;
  std::memcpy(bytes.data(), &encoded, sizeof encoded);
  return bytes;
}

/// GPU memory for tensor maps that a kernel receives by address. If the GPU is lost it is not freed: that would wait for the kernel.
class MapMemory {
 public:
  explicit MapMemory(const bool& lost) : lost_(lost) {}
  MapMemory(const MapMemory&) = delete;
  MapMemory& operator=(const MapMemory&) = delete;
  ~MapMemory() {
    if (lost_) return;
    for (const CUdeviceptr address : addresses_) Driver::get().memory_free(address);
  }
  std::uint64_t add(const TensorMap::Encoded& map) {
    CUdeviceptr address = 0;
    check(Driver::get().memory_allocate(&address, map.size()), "cuMemAlloc");
    addresses_.push_back(address);
    check(Driver::get().copy_to_device(address, map.data(), map.size()), "cuMemcpyHtoD");
    return address;
  }

 private:
  const bool& lost_;
  std::vector<CUdeviceptr> addresses_;
};

/// Throws std::runtime_error where memory of the launch has an address of other memory of it, which lies elsewhere on this GPU.
void refuse_addresses(const KernelLaunch& launch) {
  const auto is_address = [&](std::uint64_t word) {
    return std::ranges::any_of(
        launch.buffers, [&](const KernelBuffer& buffer) { return buffer.address != 0 && word - buffer.address < buffer.bytes.size(); });
  };
  for (const KernelBuffer& buffer : launch.buffers) {
    std::uint64_t word = 0;
    for (std::size_t at = 0; buffer.address != 0 && at + sizeof word <= buffer.bytes.size(); at += sizeof word) {
      std::memcpy(&word, buffer.bytes.data() + at, sizeof word);
      if (is_address(word))
        throw std::runtime_error(
            fmt::format("buffer '{}' holds an address at byte {}, and on this GPU memory lies elsewhere: run the program itself, "
                        "'warpmat diff -- PROGRAM', or 'warpmat launch' with this file",
                        buffer.name, at));
    }
  }
}

class CudaKernelRunner : public KernelRunner {
 public:
  explicit CudaKernelRunner(std::chrono::seconds time_limit) : time_limit_(time_limit) {
    const Driver& driver = Driver::get();
    check(driver.device_get(&device_, 0), "cuDeviceGet");
    check(driver.primary_context_retain(&context_, device_), "cuDevicePrimaryCtxRetain");
    check(driver.context_set_current(context_), "cuCtxSetCurrent");
    check(driver.event_create(&finished_, CU_EVENT_DISABLE_TIMING), "cuEventCreate");
  }
  CudaKernelRunner(const CudaKernelRunner&) = delete;
  CudaKernelRunner& operator=(const CudaKernelRunner&) = delete;

  ~CudaKernelRunner() override {
    if (lost_) return;  // every call would fail, or wait for the kernel
    const Driver& driver = Driver::get();
    driver.context_set_current(context_);
    for (const Loaded& loaded : modules_) driver.module_unload(loaded.module);
    for (const Memory& memory : memories_)
      if (memory.bytes != 0) driver.memory_free(memory.address);
    driver.event_destroy(finished_);
    driver.primary_context_release(device_);
  }

  KernelAnswer run(const KernelLaunch& launch) override {
    if (lost_) throw GpuLost("this process can use the GPU no longer");
    const Driver& driver = Driver::get();
    check(driver.context_set_current(context_), "cuCtxSetCurrent");
    const CUmodule module = find_module(launch.ptx);
    const CUfunction function = load(launch, module);
    const std::vector<std::uint64_t> addresses = place(launch, module);
    std::vector<std::vector<std::uint8_t>> arguments;
    std::vector<void*> parameters;
    MapMemory maps(lost_);
    const auto place_map = [&](const TensorMap::Encoded& map) { return maps.add(map); };
    for (const KernelParameter& parameter : launch.parameters) arguments.push_back(parameter.placed(addresses, encode_map, place_map));
    for (auto& argument : arguments) parameters.push_back(argument.data());
    KernelAnswer answer;
    if (module_prints_) {
      CapturedOutput output;
      start(launch, function, parameters);
      check(driver.context_synchronize(), "cuCtxSynchronize");  // the driver prints now
      answer.printed = output.text();
    } else {
      start(launch, function, parameters);
    }
    for (std::size_t i = 0; i < launch.buffers.size(); ++i) {
      auto& bytes = answer.buffers.emplace_back(launch.buffers[i].bytes.size());
      if (!bytes.empty()) check(driver.copy_from_device(bytes.data(), addresses[i], bytes.size()), "cuMemcpyDtoH");
    }
    return answer;
  }

 private:
  struct Memory {
    CUdeviceptr address = 0;
    std::size_t bytes = 0;
  };
  struct Loaded {
    std::string text;
    CUmodule module;
  };

  /// The module of that text. The last few are cached, because a sweep alternates between a few kernels. Modules with variables are not,
  /// because a launch may have changed these.
  CUmodule find_module(const std::string& text) {
    constexpr std::size_t max_modules = 16;
    const auto found = std::ranges::find(modules_, text, &Loaded::text);
    if (found != modules_.end() && text.find(".global ") != std::string::npos) {
      Driver::get().module_unload(found->module);
      modules_.erase(found);
    } else if (found != modules_.end()) {
      std::rotate(found, found + 1, modules_.end());
      return modules_.back().module;
    }
    if (modules_.size() == max_modules) {
      Driver::get().module_unload(modules_.front().module);
      modules_.erase(modules_.begin());
    }
    return modules_.emplace_back(Loaded{text, assemble(text)}).module;
  }

  CUfunction load(const KernelLaunch& launch, CUmodule module) {
    module_prints_ = launch.ptx.find("vprintf") != std::string::npos;
    CUfunction function = nullptr;
    check(Driver::get().module_get_function(&function, module, launch.entry.c_str()), "cuModuleGetFunction");
    if (launch.config.shared_bytes > 0)
      check(Driver::get().function_set_attribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                                 static_cast<int>(launch.config.shared_bytes)),
            "cuFuncSetAttribute");
    return function;
  }

  /// The address of a module's variable; 0 where ptxas has removed it.
  static CUdeviceptr variable(CUmodule module, const KernelBuffer& buffer) {
    CUdeviceptr address = 0;
    std::size_t bytes = 0;
    const bool found = Driver::get().module_get_global(&address, &bytes, module, buffer.name.c_str()) == CUDA_SUCCESS;
    return found && bytes == buffer.bytes.size() ? address : 0;
  }

  /// Copies the buffers to the GPU and returns their addresses. Memory is kept for the next launch.
  std::vector<std::uint64_t> place(const KernelLaunch& launch, CUmodule module) {
    refuse_addresses(launch);
    if (memories_.size() < launch.buffers.size()) memories_.resize(launch.buffers.size());
    std::vector<std::uint64_t> addresses;
    for (std::size_t i = 0; i < launch.buffers.size(); ++i) {
      const std::vector<std::uint8_t>& bytes = launch.buffers[i].bytes;
      Memory& memory = memories_[i];
      if (const CUdeviceptr address = launch.buffers[i].variable ? variable(module, launch.buffers[i]) : 0; address != 0) {
        check(Driver::get().copy_to_device(address, bytes.data(), bytes.size()), "cuMemcpyHtoD");
        addresses.push_back(address);
        continue;
      }
      if (bytes.size() > memory.bytes) {
        if (memory.bytes != 0) check(Driver::get().memory_free(memory.address), "cuMemFree");
        memory = {};
        check(Driver::get().memory_allocate(&memory.address, bytes.size()), "cuMemAlloc");
        memory.bytes = bytes.size();
      }
      if (!bytes.empty()) check(Driver::get().copy_to_device(memory.address, bytes.data(), bytes.size()), "cuMemcpyHtoD");
      addresses.push_back(memory.address);
    }
    return addresses;
  }

  void start(const KernelLaunch& launch, CUfunction function, std::vector<void*>& parameters) {
    const Dim3 grid = launch.config.grid, block = launch.config.block;
    const Dim3 cluster = launch.config.cluster;
    if (cluster.count() == 1) {
      check(Driver::get().launch_kernel(function, grid.x, grid.y, grid.z, block.x, block.y, block.z, launch.config.shared_bytes, nullptr,
                                        parameters.data(), nullptr),
            "cuLaunchKernel");
    } else {
      if (Driver::get().launch_kernel_ex == nullptr) throw std::runtime_error("the installed CUDA driver launches no clusters");
      CUlaunchAttribute attribute{CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, {}, {cluster.x, cluster.y, cluster.z, {}}};
      const CUlaunchConfig config{grid.x, grid.y, grid.z, block.x, block.y, block.z, launch.config.shared_bytes, nullptr, &attribute, 1};
      if (cluster.count() > portable_cluster)
        check(Driver::get().function_set_attribute(function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1), "cuFuncSetAttribute");
      check(Driver::get().launch_kernel_ex(&config, function, parameters.data(), nullptr), "cuLaunchKernelEx");
    }
    check(Driver::get().event_record(finished_, nullptr), "cuEventRecord");
    const CUresult result = wait_for(finished_, time_limit_);
    if (result == CUDA_SUCCESS) return;
    lost_ = true;
    throw GpuLost(fmt::format("the GPU stopped at kernel '{}': {}; this process can use the GPU no longer", launch.entry,
                              result == CUDA_ERROR_NOT_READY ? fmt::format("it did not end within {} seconds", time_limit_.count())
                                                             : DriverError("the kernel", result).what()));
  }

  std::chrono::seconds time_limit_;
  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
  CUevent finished_ = nullptr;
  std::vector<Loaded> modules_;  ///< least recently used first
  bool module_prints_ = false;
  std::vector<Memory> memories_;  ///< by buffer
  bool lost_ = false;
};

}  // namespace

std::unique_ptr<KernelRunner> open_kernel_gpu(std::chrono::seconds time_limit) {
  int count = 0;
  check(Driver::get().device_get_count(&count), "cuDeviceGetCount");
  if (count == 0) throw NoGpu("no GPU: the CUDA driver finds none in this machine");
  return std::make_unique<CudaKernelRunner>(time_limit);
}

}  // namespace warpmat
