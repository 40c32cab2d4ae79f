#include "gpu/programs/driver/recorder.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include <warpmat/ir/code.h>
#include <warpmat/machine/internals.h>
#include <warpmat/ptx/text/readable_name.h>

#include "gpu/cuda/captured_output.h"
#include "gpu/programs/driver/calls.h"

namespace warpmat::programs {
namespace {

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::uint64_t number(const char* name, std::uint64_t otherwise) {
  const std::string text = variable(name);
  return text.empty() ? otherwise : std::strtoull(text.c_str(), nullptr, 10);
}

Settings read_settings() {
  Settings settings{.folder = variable("WARPMAT_RECORD_FOLDER"),
                    .kernels = {},
                    .every = std::max<std::uint64_t>(1, number("WARPMAT_RECORD_EVERY", 1)),
                    .first = number("WARPMAT_RECORD_FIRST", 0),
                    .most_file_bytes = number("WARPMAT_RECORD_LIMIT", 0),
                    .most_memory_bytes = number("WARPMAT_RECORD_MEMORY", 0),
                    .twice = number("WARPMAT_RECORD_TWICE", 1) != 0};
  const std::string kernels = variable("WARPMAT_RECORD_KERNELS");
  if (!kernels.empty()) settings.kernels.emplace(kernels);
  return settings;
}

/// Throws with what the driver answered.
void require(int result, const char* call) {
  if (result != 0) throw std::runtime_error(fmt::format("{} returns error {}", call, result));
}

/// The GPU of the current context. A runtime loads libraries before it has one: then the first GPU.
CUdevice current_device() {
  CUdevice device = 0;
  if (WARPMAT_REAL(cuCtxGetDevice)(&device) != 0) require(WARPMAT_REAL(cuDeviceGet)(&device, 0), "cuDeviceGet");
  return device;
}

/// The bytes of each argument, in the order of the parameters. Throws std::runtime_error.
std::vector<std::vector<std::uint8_t>> arguments_of(const Request& request, const code::Program& program) {
  constexpr std::uintptr_t buffer_pointer = 1;  // CU_LAUNCH_PARAM_BUFFER_POINTER
  const std::uint8_t* packed = nullptr;
  for (void** each = request.extra; each != nullptr && *each != nullptr; each += 2)
    if (reinterpret_cast<std::uintptr_t>(*each) == buffer_pointer) packed = static_cast<const std::uint8_t*>(each[1]);
  std::vector<std::vector<std::uint8_t>> arguments;
  for (std::size_t i = 0; i < program.parameters.size(); ++i) {
    const code::Parameter& parameter = program.parameters[i];
    const auto* const from = request.arguments != nullptr ? static_cast<const std::uint8_t*>(request.arguments[i])
                             : packed != nullptr          ? packed + parameter.offset
                                                          : nullptr;
    if (from == nullptr) throw std::runtime_error("the launch has no arguments");
    arguments.emplace_back(from, from + parameter.bytes);
  }
  return arguments;
}

}  // namespace

struct Recorder::Snapshot {
  std::string name;
  std::uint64_t address = 0;
  bool variable = false, host = false;
  std::vector<std::uint8_t> before, after, again;

  void read(std::vector<std::uint8_t>& to) const {
    to.resize(before.size());
    if (host)
      std::memcpy(to.data(), reinterpret_cast<const void*>(static_cast<std::uintptr_t>(address)), to.size());
    else
      require(WARPMAT_REAL(cuMemcpyDtoH_v2)(to.data(), address, to.size()), "cuMemcpyDtoH");
  }
  void restore() const {
    if (host)
      std::memcpy(reinterpret_cast<void*>(static_cast<std::uintptr_t>(address)), before.data(), before.size());
    else
      require(WARPMAT_REAL(cuMemcpyHtoD_v2)(address, before.data(), before.size()), "cuMemcpyHtoD");
  }
};

Recorder::Recorder() : settings_(read_settings()) {}

const Target& Recorder::target() {
  constexpr int major_attribute = 75, minor_attribute = 76;  // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, _MINOR
  const CUdevice device = current_device();
  int major = 0, minor = 0;
  require(WARPMAT_REAL(cuDeviceGetAttribute)(&major, major_attribute, device), "cuDeviceGetAttribute");
  require(WARPMAT_REAL(cuDeviceGetAttribute)(&minor, minor_attribute, device), "cuDeviceGetAttribute");
  const std::string name = fmt::format("sm_{}{}", major, minor);
  const Target* found = find_target(name + "a");
  if (found == nullptr) found = find_target(name);
  if (found == nullptr) throw std::runtime_error("warpmat does not know " + name);
  return *found;
}

/// The archive of this process: one that has forked gets its own.
ArchiveWriter& Recorder::archive() {
  if (archive_ != nullptr && process_ == getpid()) return *archive_;
  static_cast<void>(archive_.release());  // the parent's file is the parent's to end
  process_ = getpid();
  archive_ = std::make_unique<ArchiveWriter>(fmt::format("{}/{}.launches", settings_.folder, process_));
  stored_.clear();
  skipped_.clear();
  char name[256] = "";
  int version = 0;
  WARPMAT_REAL(cuDeviceGetName)(name, sizeof name, current_device());
  WARPMAT_REAL(cuDriverGetVersion)(&version);
  archive_->put_line(to_line(RecordedProgram{.device = fmt::format("{}, driver {}.{}", name, version / 1000, version % 1000 / 10),
                                             .target = std::string(target().name)}));
  return *archive_;
}

void Recorder::skip(const std::string& kernel, const std::string& reason) {
  ArchiveWriter& file = archive();
  const std::uint64_t count = ++skipped_[{kernel, reason}];
  if (std::has_single_bit(count)) file.put_line(to_line(SkippedLaunches{process_, kernel, reason, count}));
}

void Recorder::finish() {
  if (archive_ == nullptr || process_ != getpid()) return;
  for (const auto& [key, count] : skipped_)
    if (!std::has_single_bit(count)) archive_->put_line(to_line(SkippedLaunches{process_, key.first, key.second, count}));
}

bool Recorder::chosen(const std::string& kernel) {
  if (settings_.kernels && !std::regex_search(demangled_name(kernel), *settings_.kernels)) return false;
  const std::uint64_t number = matching_[kernel]++;
  return number % settings_.every == 0 && (settings_.first == 0 || number / settings_.every < settings_.first);
}

/// Functions whose handle came by a call that this library does not replace.
const Function& Recorder::function_of(void* handle) {
  if (const auto found = modules.functions.find(handle); found != modules.functions.end()) return found->second;
  void* module = nullptr;
  const char* name = nullptr;
  const bool known =
      WARPMAT_REAL(cuFuncGetModule)(&module, handle) == 0 && WARPMAT_REAL(cuFuncGetName)(&name, handle) == 0 && name != nullptr;
  modules.add_function(handle, known ? module : nullptr, false, known ? name : "?");
  return modules.functions.at(handle);
}

/// Why the launch cannot be recorded; empty if it can.
std::string Recorder::obstacle() const {
  if (captures != 0) return "a stream is being captured";
  if (settings_.most_memory_bytes != 0 && allocations.bytes() > settings_.most_memory_bytes)
    return fmt::format("allocations of more than {} bytes (--memory)", settings_.most_memory_bytes);
  if (settings_.most_file_bytes != 0 && archive_ != nullptr && archive_->bytes() > settings_.most_file_bytes)
    return fmt::format("the archive has reached {} bytes (--limit)", settings_.most_file_bytes);
  return "";
}

std::vector<Recorder::Snapshot> Recorder::snapshots(const Function& function, const Kernel& kernel) const {
  std::vector<Snapshot> all;
  for (const auto& [address, allocation] : allocations.all())
    all.push_back({.name = allocation.name,
                   .address = address,
                   .variable = false,
                   .host = allocation.host,
                   .before = std::vector<std::uint8_t>(allocation.bytes),
                   .after = {},
                   .again = {}});
  void* module = function.module;
  if (function.library != nullptr) require(WARPMAT_REAL(cuLibraryGetModule)(&module, function.library), "cuLibraryGetModule");
  for (const code::Variable& variable : program_of(kernel).module_variables) {
    CUdeviceptr address = 0;
    std::size_t bytes = 0;
    const std::string name(variable.name);
    const int result = WARPMAT_REAL(cuModuleGetGlobal_v2)(&address, &bytes, module, name.c_str());
    if (result != 0 || bytes != variable.bytes || bytes == 0) continue;  // ptxas has removed it, or the kernel has no address of it
    all.push_back({.name = name,
                   .address = address,
                   .variable = true,
                   .host = false,
                   .before = std::vector<std::uint8_t>(bytes),
                   .after = {},
                   .again = {}});
  }
  for (Snapshot& each : all) each.read(each.before);
  return all;
}

/// Launches again from the same memory, so that what depends on the order of threads shows: once, and where something does, some more
/// times. `again` then has in each byte the last value that is not the first launch's.
void Recorder::run_again(const Request& request, std::vector<Snapshot>& memory) const {
  constexpr int most_launches = 6;
  for (Snapshot& each : memory) each.again = each.after;
  std::vector<std::uint8_t> now;
  bool varies = true;
  for (int i = 1; i < most_launches && varies; ++i) {
    for (const Snapshot& each : memory)
      if (each.again != each.before || each.after != each.before) each.restore();
    require(request.launch(), "another launch");
    require(WARPMAT_REAL(cuCtxSynchronize)(), "cuCtxSynchronize after another launch");
    varies = false;
    for (Snapshot& each : memory) {
      each.read(now);
      varies |= now != each.after;
      for (std::size_t at = 0; now != each.after && at < now.size(); ++at)
        if (now[at] != each.after[at]) each.again[at] = now[at];
    }
  }
}

RecordedLaunch Recorder::described(const Request& request, const Function& function, const Kernel& kernel) {
  RecordedLaunch launch{.number = launches_,
                        .kernel = function.name,
                        .ptx = {},
                        .config = request.config,
                        .cooperative = request.cooperative,
                        .arguments = arguments_of(request, program_of(kernel)),
                        .maps = {},
                        .buffers = {},
                        .twice = false,
                        .printed = {},
                        .seconds = 0};
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
    const std::vector<std::uint8_t>& bytes = launch.arguments[i];
    for (std::size_t at = 0; at + TensorMap::bytes <= bytes.size(); at += TensorMap::alignment) {
      TensorMap::Encoded encoded;
      std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), encoded.size(), encoded.begin());
      if (const auto found = tensor_maps.find(encoded); found != tensor_maps.end()) launch.maps.push_back({i, at, found->second});
    }
  }
  return launch;
}

void Recorder::write(RecordedLaunch& launch, const std::vector<Snapshot>& memory) {
  ArchiveWriter& file = archive();
  for (const Snapshot& each : memory) {
    RecordedBuffer buffer{.name = each.name,
                          .variable = each.variable,
                          .address = each.address,
                          .before = file.put(each.before),
                          .after = file.put(each.after),
                          .again = {}};
    if (launch.twice && each.again != each.after) buffer.again = file.put(each.again);
    launch.buffers.push_back(std::move(buffer));
  }
  file.put_line(to_line(launch));
}

const Recorder::StoredCode& Recorder::store(const Code& code) {
  if (const auto known = stored_.find(&code); known != stored_.end()) return known->second;
  const auto put = [&](const std::string& bytes) {
    return archive().put({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
  };
  StoredCode stored{.ptx = put(code.ptx()), .machine_code = {}};
  if (const std::string* const machine_code = code.machine_code()) stored.machine_code = put(*machine_code);
  return stored_.emplace(&code, std::move(stored)).first->second;
}

int Recorder::record(const Request& request, const Function& function, const Kernel& kernel) {
  const auto start = std::chrono::steady_clock::now();
  RecordedLaunch launch = described(request, function, kernel);
  require(WARPMAT_REAL(cuCtxSynchronize)(), "cuCtxSynchronize before the launch");
  std::vector<Snapshot> memory = snapshots(function, kernel);
  std::optional<CapturedOutput> output;
  if (function.code->prints()) output.emplace();
  const int result = request.launch();
  const int end = result == 0 ? WARPMAT_REAL(cuCtxSynchronize)() : 0;
  if (output) {
    launch.printed = output->text();
    std::fwrite(launch.printed->data(), 1, launch.printed->size(), stdout);
    std::fflush(stdout);
  }
  if (result != 0 || end != 0) {
    skip(function.name, fmt::format("{} returns error {}", result != 0 ? "the launch" : "the GPU", result != 0 ? result : end));
    return result;
  }
  try {
    for (Snapshot& each : memory) each.read(each.after);
    launch.twice = settings_.twice && !function.code->prints();
    if (launch.twice) run_again(request, memory);
    const StoredCode& stored = store(*function.code);
    launch.ptx = stored.ptx;
    launch.machine_code = stored.machine_code;
    launch.assembler_options = function.code->assembler_options();
    launch.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    write(launch, memory);
  } catch (const std::exception& e) {
    skip(function.name, e.what());
  }
  return result;
}

int Recorder::launch(const Request& request) {
  const std::lock_guard lock(mutex);
  ++launches_;
  if (settings_.folder.empty()) return request.launch();
  const Function function = function_of(request.function);
  std::string reason = chosen(function.name) ? obstacle() : "not chosen (--kernels, --every, --first)";
  const Kernel* kernel = nullptr;
  if (reason.empty()) try {
      kernel = &function.code->kernel(function.name, target());
    } catch (const std::exception& e) {
      reason = e.what();
    }
  if (!reason.empty()) {
    skip(function.name, reason);
    return request.launch();
  }
  try {
    return record(request, function, *kernel);
  } catch (const std::exception& e) {  // before the launch
    skip(function.name, e.what());
    return request.launch();
  }
}

Recorder& recorder() {
  static auto* const made = new Recorder;
  return *made;
}

namespace {

__attribute__((destructor)) void finish_recorder() {
  recorder().finish();
}

}  // namespace

}  // namespace warpmat::programs
