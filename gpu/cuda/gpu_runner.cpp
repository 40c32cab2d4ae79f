#include "gpu/cuda/gpu_runner.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <future>
#include <map>
#include <span>
#include <utility>

#include <fmt/core.h>
#include <warpmat/text.h>

#include "gpu/cuda/driver.h"
#include "gpu/runners/kernel.h"

namespace warpmat {
namespace {

// ---- Resources of the driver ----------------------------------------------------------------------------------------------------------

/// A buffer in the current context's GPU memory, which grows and is reused.
class Buffer {
 public:
  CUdeviceptr at_least(std::size_t bytes) {
    if (bytes <= size_) return address_;
    release();
    check(Driver::get().memory_allocate(&address_, bytes), "cuMemAlloc");
    size_ = bytes;
    return address_;
  }

  void release() {
    if (size_ != 0) Driver::get().memory_free(address_);
    size_ = 0;
  }

 private:
  CUdeviceptr address_ = 0;
  std::size_t size_ = 0;
};

std::size_t round_up(std::size_t value, std::size_t granularity) {
  return (value + granularity - 1) / granularity * granularity;
}

int attribute(CUdevice device, CUdevice_attribute which) {
  int value = 0;
  check(Driver::get().device_get_attribute(&value, which, device), "cuDeviceGetAttribute");
  return value;
}

// ---- Properties of a GPU --------------------------------------------------------------------------------------------------------------

struct Capability {
  int major = 0, minor = 0;
};

Capability capability(CUdevice device) {
  return {attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR), attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)};
}

/// The baseline target of `device`'s hardware, or nullptr for a GPU that the library does not support.
const Target* baseline_target(CUdevice device) {
  const Capability c = capability(device);
  return find_target(fmt::format("sm_{}{}", c.major, c.minor));
}

/// The target of that hardware with the most features.
const Target& richest_target(Hardware hardware) {
  const Target* richest = nullptr;
  for (const Target& candidate : targets())
    if (candidate.hardware == hardware && (richest == nullptr || candidate.features > richest->features)) richest = &candidate;
  return *richest;
}

std::string card_name(CUdevice device) {
  std::array<char, 256> name{};
  check(Driver::get().device_get_name(name.data(), static_cast<int>(name.size()), device), "cuDeviceGetName");
  return name.data();
}

std::string cuda_version() {
  int version = 0;
  check(Driver::get().driver_get_version(&version), "cuDriverGetVersion");
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

/// The assembler's version, from its output for `text`: "release 13.0, V13.0.88".
std::string assembler_version(const std::string& text) {
  const Driver& driver = Driver::get();
  CUlinkState link = nullptr;
  check(driver.link_create(0, nullptr, nullptr, &link), "cuLinkCreate");
  void* image = nullptr;
  std::size_t size = 0;
  CUresult result = driver.link_add_data(link, CU_JIT_INPUT_PTX, const_cast<char*>(text.c_str()), text.size() + 1, "", 0, nullptr, nullptr);
  if (result == CUDA_SUCCESS) result = driver.link_complete(link, &image, &size);
  std::string version = "unknown";
  if (result == CUDA_SUCCESS) {
    constexpr std::string_view before = "Cuda compilation tools, ";
    const std::string_view bytes(static_cast<const char*>(image), size);
    if (const std::size_t found = bytes.find(before); found != std::string_view::npos) {
      const std::string_view rest = bytes.substr(found + before.size());
      version = rest.substr(0, rest.find_first_of(std::string_view("\n\0", 2)));
    }
  }
  driver.link_destroy(link);
  return version;
}

/// "the program 'STATEMENT'", or the first statement and the number of all.
std::string name_program(const Program& program) {
  if (program.statements().empty()) return "the empty program";
  const std::string first = print(program, program.statements().front());
  if (program.statements().size() == 1) return fmt::format("'{}'", first);
  return fmt::format("the program of {} statements that begins with '{}'", program.statements().size(), first);
}

// ---- One GPU --------------------------------------------------------------------------------------------------------------------------

class CudaGpuRunner {
 public:
  CudaGpuRunner(CUdevice device, std::chrono::seconds time_limit) : device_(device), time_limit_(time_limit) {
    const Driver& driver = Driver::get();
    check(driver.primary_context_retain(&context_, device), "cuDevicePrimaryCtxRetain");
    check(driver.context_set_current(context_), "cuCtxSetCurrent");
    check(driver.event_create(&finished_, CU_EVENT_DISABLE_TIMING), "cuEventCreate");
    max_shared_bytes_ = static_cast<std::size_t>(attribute(device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN));
    const Capability c = capability(device);
    info_ = {card_name(device), fmt::format("{}.{}", c.major, c.minor), installed_driver_version(), cuda_version(), ""};
    probe();
  }

  CudaGpuRunner(const CudaGpuRunner&) = delete;
  CudaGpuRunner& operator=(const CudaGpuRunner&) = delete;

  ~CudaGpuRunner() {
    if (lost_) return;  // every call would fail, or wait for the kernel
    const Driver& driver = Driver::get();
    driver.context_set_current(context_);
    unload();
    for (Buffer* buffer : {&registers_, &shared_, &base_}) buffer->release();
    driver.event_destroy(finished_);
    driver.primary_context_release(device_);
  }

  const GpuInfo& info() const { return info_; }
  std::uint32_t shared_base() const { return shared_base_; }

  /// Runs `count` warps of `states` from `first` on and writes their final states to `finished`.
  void run(const Program& program, const WarpStates& states, WarpStates& finished, std::size_t first, std::size_t count) {
    if (lost_) throw GpuLost(fmt::format("{}: this process can use the GPU no longer", info_.card));
    try {
      check(Driver::get().context_set_current(context_), "cuCtxSetCurrent");
      run_slices(program, states, finished, first, count);
    } catch (const DriverError& e) {
      throw std::runtime_error(fmt::format("{}, {}: {}", info_.card, name_program(program), e.what()));
    }
  }

 private:
  /// Runs as many warps at a time as fit into a moderate amount of GPU memory.
  void run_slices(const Program& program, const WarpStates& states, WarpStates& finished, std::size_t first, std::size_t count) {
    constexpr std::size_t max_bytes = std::size_t{1} << 28;
    if (states.shared_bytes > max_shared_bytes_)
      throw std::runtime_error(fmt::format("{}: {} bytes of shared memory; {} has {}", name_program(program), states.shared_bytes,
                                           info_.card, max_shared_bytes_));
    const CUfunction function = load(program);
    const std::size_t bytes_per_warp = states.words * sizeof(Register) + stride(states) + 1;
    const std::size_t most = std::max<std::size_t>(1, max_bytes / bytes_per_warp);
    for (std::size_t done = 0; done < count; done += most)
      launch(program, function, states, finished, first + done, std::min(most, count - done));
    const std::uint32_t base = read_base();
    if (count != 0 && base != shared_base_)
      throw std::runtime_error(
          fmt::format("{}: shared memory begins at {:#x}, not at {:#x} as before", name_program(program), base, shared_base_));
  }

  static std::size_t stride(const WarpStates& states) { return round_up(states.shared_bytes, WrappedProgram::shared_granularity); }

  /// Runs the empty program, which reports the address of shared memory and the assembler's version.
  void probe() {
    const Program empty = parse("", baseline_target(device_)->name);
    WarpStates nothing(empty, 1);
    launch(empty, load(empty), nothing, nothing, 0, 1);
    shared_base_ = read_base();
    info_.assembler = assembler_version(make_kernel(empty, required_version(empty)).text);
  }

  std::uint32_t read_base() {
    std::uint32_t base = 0;
    check(Driver::get().copy_from_device(&base, base_.at_least(sizeof base), sizeof base), "cuMemcpyDtoH");
    return base;
  }

  // ---- Programs

  CUfunction load(const Program& program) {
    const PtxVersion required = required_version(program);
    const PtxVersion version = program.version() >= too_new_ ? required : std::max(required, program.version());
    const WrappedProgram kernel = make_kernel(program, version);
    if (const auto found = functions_.find(kernel.text); found != functions_.end()) return found->second;
    constexpr std::size_t max_modules = 256;
    if (modules_.size() >= max_modules) unload();
    CUfunction function = nullptr;
    if (assemble(program, kernel, function)) return function;
    if (version == required)
      throw std::runtime_error(
          fmt::format("{}: PTX {} is newer than the driver's assembler knows", name_program(program), to_string(version)));
    too_new_ = version;
    return load(program);
  }

  /// False if the assembler does not support the text's version of PTX.
  bool assemble(const Program& program, const WrappedProgram& kernel, CUfunction& function) {
    const Driver& driver = Driver::get();
    std::array<char, 4096> log{};
    std::array options{CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    std::array values{static_cast<void*>(log.data()), reinterpret_cast<void*>(log.size())};
    CUmodule module = nullptr;
    const CUresult result = driver.module_load_data(&module, kernel.text.c_str(), options.size(), options.data(), values.data());
    if (result == CUDA_ERROR_UNSUPPORTED_PTX_VERSION) return false;
    if (result != CUDA_SUCCESS)
      throw std::runtime_error(
          fmt::format("the driver's assembler does not take {}: {}", name_program(program),
                      log[0] != 0 ? explain_log(kernel.text, log.data()) : DriverError("cuModuleLoadDataEx", result).what()));
    modules_.push_back(module);
    check(driver.module_get_function(&function, module, kernel.name.c_str()), "cuModuleGetFunction");
    functions_.emplace(kernel.text, function);
    return true;
  }

  void unload() {
    for (const CUmodule module : modules_) Driver::get().module_unload(module);
    modules_.clear();
    functions_.clear();
  }

  // ---- Launches

  void launch(const Program& program, CUfunction function, const WarpStates& states, WarpStates& finished, std::size_t first,
              std::size_t count) {
    const std::size_t register_bytes = count * states.words * sizeof(Register);
    const std::size_t memory_stride = stride(states);
    CUdeviceptr registers = registers_.at_least(register_bytes + 1);
    CUdeviceptr shared = shared_.at_least(count * memory_stride + 1);
    CUdeviceptr base = base_.at_least(sizeof(std::uint32_t));
    if (register_bytes != 0)
      check(Driver::get().copy_to_device(registers, states.registers.data() + first * states.words, register_bytes), "cuMemcpyHtoD");
    copy_memories(shared, const_cast<std::uint8_t*>(states.shared.data()) + first * states.shared_bytes, states.shared_bytes, count, true);

    auto shared_bytes = static_cast<std::uint32_t>(memory_stride);
    std::array<void*, 4> parameters{&registers, &shared, &shared_bytes, &base};
    start(function, count, shared_bytes, parameters);
    wait(program);

    if (register_bytes != 0)
      check(Driver::get().copy_from_device(finished.registers.data() + first * states.words, registers, register_bytes), "cuMemcpyDtoH");
    copy_memories(shared, finished.shared.data() + first * states.shared_bytes, states.shared_bytes, count, false);
  }

  void start(CUfunction function, std::size_t warps, std::uint32_t shared_bytes, std::span<void*> parameters) {
    const Driver& driver = Driver::get();
    check(driver.function_set_attribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, static_cast<int>(shared_bytes)),
          "cuFuncSetAttribute");
    check(driver.launch_kernel(function, static_cast<unsigned>(warps), 1, 1, warp_size, 1, 1, shared_bytes, nullptr, parameters.data(),
                               nullptr),
          "cuLaunchKernel");
    check(driver.event_record(finished_, nullptr), "cuEventRecord");
  }

  /// Waits for the launched kernel.
  void wait(const Program& program) {
    const CUresult result = wait_for(finished_, time_limit_);
    if (result == CUDA_SUCCESS) return;
    lost_ = true;
    const std::string what = result == CUDA_ERROR_NOT_READY ? fmt::format("it did not end within {} seconds", time_limit_.count())
                                                            : DriverError("the kernel", result).what();
    throw GpuLost(fmt::format("{} stopped at {}: {}; this process can use the GPU no longer", info_.card, name_program(program), what));
  }

  /// Copies the memories of `count` warps to the GPU or back; on the GPU each begins at a multiple of the stride.
  void copy_memories(CUdeviceptr device, std::uint8_t* host, std::size_t bytes, std::size_t count, bool to_device) {
    if (bytes == 0 || count == 0) return;
    const std::size_t device_pitch = round_up(bytes, WrappedProgram::shared_granularity);
    CUDA_MEMCPY2D copy{};
    copy.WidthInBytes = bytes;
    copy.Height = count;
    copy.srcMemoryType = to_device ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
    copy.dstMemoryType = to_device ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
    copy.srcHost = copy.dstHost = host;
    copy.srcDevice = copy.dstDevice = device;
    copy.srcPitch = to_device ? bytes : device_pitch;
    copy.dstPitch = to_device ? device_pitch : bytes;
    check(Driver::get().copy_rows(&copy), "cuMemcpy2D");
  }

  CUdevice device_;
  std::chrono::seconds time_limit_;
  CUcontext context_ = nullptr;
  CUevent finished_ = nullptr;
  GpuInfo info_;
  std::size_t max_shared_bytes_ = 0;
  std::uint32_t shared_base_ = 0;
  bool lost_ = false;
  Buffer registers_, shared_, base_;
  PtxVersion too_new_{newest_ptx.major + 1, 0};  ///< the oldest version that the assembler has refused
  std::vector<CUmodule> modules_;
  std::map<std::string, CUfunction> functions_;  ///< by the kernel's text
};

// ---- All GPUs -------------------------------------------------------------------------------------------------------------------------

class GpuGroup : public GpuRunner {
 public:
  GpuGroup(const std::vector<CUdevice>& devices, std::chrono::seconds time_limit)
      : target_(&richest_target(baseline_target(devices.front())->hardware)) {
    for (const CUdevice device : devices) infos_.push_back(gpus_.emplace_back(std::make_unique<CudaGpuRunner>(device, time_limit))->info());
  }

  void run(const Program& program, WarpStates& states) override {
    assert(states.words == static_cast<std::size_t>(program.named_words()));
    if (program.target()->hardware != target_->hardware)
      throw NoGpu(fmt::format("the program's target is {}, and the GPU of this machine is {}, {}", program.target()->name,
                              infos_.front().card, name(target_->hardware)));
    WarpStates finished = states;
    std::vector<std::future<void>> parts;
    for (std::size_t i = 0; i < gpus_.size(); ++i) {
      const std::size_t first = states.warps * i / gpus_.size();
      const std::size_t count = states.warps * (i + 1) / gpus_.size() - first;
      parts.push_back(std::async(std::launch::async, [&, i, first, count] { gpus_[i]->run(program, states, finished, first, count); }));
    }
    for (std::future<void>& part : parts) part.get();
    states = std::move(finished);
  }

  std::uint32_t shared_base() const override { return gpus_.front()->shared_base(); }
  const std::vector<GpuInfo>& gpus() const override { return infos_; }
  const Target& target() const override { return *target_; }

  std::string description() const override {
    const GpuInfo& first = infos_.front();
    return fmt::format("{}{}, {}, driver {}, CUDA {}, assembler {}", infos_.size() > 1 ? fmt::format("{} x ", infos_.size()) : "",
                       first.card, name(target_->hardware), first.driver, first.cuda, first.assembler);
  }

 private:
  const Target* target_;
  std::vector<std::unique_ptr<CudaGpuRunner>> gpus_;
  std::vector<GpuInfo> infos_;
};

std::vector<CUdevice> all_devices() {
  int count = 0;
  check(Driver::get().device_get_count(&count), "cuDeviceGetCount");
  std::vector<CUdevice> devices(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) check(Driver::get().device_get(&devices[static_cast<std::size_t>(i)], i), "cuDeviceGet");
  if (devices.empty()) throw NoGpu("no GPU: the CUDA driver finds none in this machine");
  return devices;
}

/// "NVIDIA A100, compute capability 8.0"
std::string describe(CUdevice device) {
  const Capability c = capability(device);
  return fmt::format("{}, compute capability {}.{}", card_name(device), c.major, c.minor);
}

}  // namespace

std::unique_ptr<GpuRunner> open_gpus(const GpuOptions& options) {
  std::vector<CUdevice> devices = all_devices();
  std::vector<std::string> found;
  for (const CUdevice device : devices) found.push_back(describe(device));
  std::erase_if(devices, [&](CUdevice device) {
    const Target* baseline = baseline_target(device);
    return baseline == nullptr || (options.target != nullptr && baseline->hardware != options.target->hardware);
  });
  if (devices.empty())
    throw NoGpu(fmt::format("no GPU {}: this machine has {}",
                            options.target == nullptr ? "that warpmat knows" : fmt::format("for the target {}", options.target->name),
                            joined(found, " and ")));
  const Hardware hardware = baseline_target(devices.front())->hardware;
  std::erase_if(devices, [&](CUdevice device) { return baseline_target(device)->hardware != hardware; });
  if (options.most > 0 && devices.size() > static_cast<std::size_t>(options.most)) devices.resize(static_cast<std::size_t>(options.most));
  return std::make_unique<GpuGroup>(devices, options.time_limit);
}

}  // namespace warpmat
