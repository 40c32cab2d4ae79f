#include "gpu/programs/compared_launch.h"

#include <fmt/core.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>

#include <warpmat/diagnostic.h>
#include <warpmat/ir/code.h>
#include <warpmat/machine/internals.h>
#include <warpmat/ptx/text/readable_name.h>

#include "gpu/compare/compare_kernels.h"

namespace warpmat::programs {
namespace {

constexpr std::uint64_t own_memory = 0x1000'0000'0000;  // where no driver puts a program's memory
constexpr std::size_t most_elements = 3;
constexpr const char* given_up = "interrupted";
constexpr Checks no_checks{.uninitialised = false, .copies = false, .races = false, .lanes = false, .fences = false, .stores = false};

/// CompareOptions::stop asks to give up.
struct GivenUp {};

/// Asks a launch to end after a time, or when CompareOptions::stop says so.
class Deadline {
 public:
  explicit Deadline(const CompareOptions& options) : thread_([this, &options] { wait(options); }) {}
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;
  ~Deadline() {
    {
      const std::lock_guard lock(mutex_);
      done_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }
  const std::atomic<bool>* flag() const { return &over_; }

 private:
  void wait(const CompareOptions& options) {
    constexpr std::chrono::milliseconds between{50};
    const auto end = std::chrono::steady_clock::now() + options.most_time;
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, between, [this] { return done_; })) {
      if (std::chrono::steady_clock::now() < end && !(options.stop && options.stop())) continue;
      over_ = true;
      return;
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::atomic<bool> over_{false};
  std::thread thread_;
};

/// The first parameter that is an address in the buffer.
std::optional<std::size_t> parameter_of(const RecordedLaunch& launch, const RecordedBuffer& buffer) {
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
    std::uint64_t address = 0;
    if (launch.arguments[i].size() != sizeof address) continue;
    std::memcpy(&address, launch.arguments[i].data(), sizeof address);
    if (address - buffer.address < buffer.before.bytes) return i;
  }
  return std::nullopt;
}

std::uint64_t element(const std::vector<std::uint8_t>& bytes, std::uint64_t index, unsigned size) {
  std::uint64_t bits = 0;
  const std::uint64_t at = index * size;
  std::memcpy(&bits, bytes.data() + at, std::min<std::uint64_t>(size, bytes.size() - at));
  return bits;
}

/// Where the bytes differ.
std::vector<std::uint64_t> different_bytes(const std::vector<std::uint8_t>& a, const std::vector<std::uint8_t>& b) {
  std::vector<std::uint64_t> places;
  if (a == b) return places;
  for (std::uint64_t i = 0; i < a.size(); ++i)
    if (a[i] != b[i]) places.push_back(i);
  return places;
}

/// The elements that have these bytes.
std::set<std::uint64_t> elements_of(const std::vector<std::uint64_t>& places, const ElementType& type) {
  std::set<std::uint64_t> elements;
  for (const std::uint64_t at : places) elements.insert(elements.end(), at / type.bytes);
  return elements;
}

/// Removes the bytes of these elements. Returns how many bytes the elements have, in a buffer of `size`.
std::uint64_t remove(std::vector<std::uint64_t>& places, const std::set<std::uint64_t>& elements, const ElementType& type,
                     std::uint64_t size) {
  std::erase_if(places, [&](std::uint64_t at) { return elements.contains(at / type.bytes); });
  std::uint64_t bytes = 0;
  for (const std::uint64_t element : elements) bytes += std::min<std::uint64_t>(type.bytes, size - element * type.bytes);
  return bytes;
}

void add_elements(BufferDifference& difference, const std::vector<std::uint64_t>& places, const std::vector<std::uint8_t>& gpu,
                  const std::vector<std::uint8_t>& emulator) {
  std::optional<std::uint64_t> last;
  for (const std::uint64_t at : places) {
    const std::uint64_t index = at / difference.type.bytes;
    if (last == index) continue;
    last = index;
    ++difference.elements;
    if (difference.first.size() < most_elements)
      difference.first.push_back({index, element(gpu, index, difference.type.bytes), element(emulator, index, difference.type.bytes)});
  }
}

/// Throws std::invalid_argument for a kernel that needs more of its program than a recorded launch has.
void must_be_alone(const code::Program& program) {
  using Target = code::Call::Target;
  if (program.executes(catalogue::Semantics::texture))
    throw std::invalid_argument("it reads texture or surface objects, which are not recorded");
  const auto launches = [](const code::Call& call) {
    return call.target == Target::prepare_launch || call.target == Target::copy || call.target == Target::fill;
  };
  if (program.any<code::Call>(launches)) throw std::invalid_argument("it launches kernels or copies, which are not recorded");
}

}  // namespace

std::optional<AssemblerDecisions> decisions_of(const ArchiveReader& archive, const Module& module, const RecordedLaunch& launch,
                                               const std::string& target) {
  if (!launch.machine_code) return std::nullopt;
  return read_machine_code(module, launch.kernel, archive.read_text(*launch.machine_code),
                           {.target = target, .assembler_options = launch.assembler_options});
}

const Kernel& LaunchComparer::kernel(const RecordedLaunch& launch, const std::string& target) {
  const auto key = std::pair(launch.ptx.blocks, launch.kernel);
  if (const auto found = kernels_.find(key); found != kernels_.end()) return found->second;
  auto module = modules_.find(launch.ptx.blocks);
  if (module == modules_.end()) module = modules_.emplace(launch.ptx.blocks, Module(archive_.read_text(launch.ptx))).first;
  return kernels_.emplace(key, make_kernel(module->second, launch, target)).first->second;
}

Kernel LaunchComparer::make_kernel(const Module& module, const RecordedLaunch& launch, const std::string& target) const {
  const auto decisions = decisions_of(archive_, module, launch, target);
  return {module,
          launch.kernel,
          {.target = target, .assembler_options = launch.assembler_options, .decisions = decisions ? &*decisions : nullptr}};
}

/// Why a launch reached its limit: it was given up, or took too long.
std::string LaunchComparer::reason_to_stop() const {
  if (options_.stop && options_.stop()) return given_up;
  return fmt::format("the emulation took longer than {} s (--seconds)", options_.most_time.count());
}

void LaunchComparer::stop_if_asked() const {
  if (options_.stop && options_.stop()) throw GivenUp();
}

LaunchComparer::Run LaunchComparer::run(const RecordedLaunch& launch, const Kernel& kernel, std::uint64_t schedule) const {
  CheckedSize all = 0;
  for (const RecordedBuffer& buffer : launch.buffers) all = all + buffer.before.bytes;
  archive_.check_total(all, fmt::format("the buffers of launch {}", launch.number));
  DeviceMemory memory(own_memory);
  std::map<std::string, std::uint64_t> variables;
  for (const RecordedBuffer& buffer : launch.buffers) {
    stop_if_asked();
    memory.place(buffer.address, archive_.read(buffer.before), buffer.name);
    if (buffer.variable) variables[buffer.name] = buffer.address;
  }
  place_variables(kernel, memory, variables);
  std::vector<std::vector<std::uint8_t>> bytes = launch.arguments;
  for (const RecordedMap& map : launch.maps)
    std::ranges::copy(TensorMap(map.map).encode(), bytes[map.argument].begin() + static_cast<std::ptrdiff_t>(map.at));
  std::vector<Argument> arguments;
  for (std::vector<std::uint8_t>& each : bytes) arguments.emplace_back(std::move(each));
  LaunchConfig config = launch.config;
  if (launch.cooperative) {
    const std::vector<std::uint32_t> size_and_barrier{8, 0};
    config.workspace = memory.allocate(size_and_barrier, "the barrier of a cooperative launch");
  }
  const Deadline deadline(options_);
  Run run;
  run.printed = warpmat::launch(kernel, config, memory, arguments,
                                {.jobs = options_.jobs,
                                 .schedule = schedule,
                                 .execution = {.undefined = Undefined::hardware},
                                 .checks = no_checks,
                                 .stop = deadline.flag()})
                    .printed;
  for (const RecordedBuffer& buffer : launch.buffers) run.buffers.push_back(memory.read<std::uint8_t>(buffer.address, buffer.before.bytes));
  return run;
}

/// The launch in another order of blocks and warps. Nothing, with `unsettled`, if it is given up: the first run's differences stay.
std::optional<LaunchComparer::Run> LaunchComparer::run_otherwise(const RecordedLaunch& launch, const Kernel& kernel,
                                                                 Comparison& comparison) const {
  constexpr std::uint64_t other_order = 1;
  try {
    return run(launch, kernel, other_order);
  } catch (const GivenUp&) {
    comparison.unsettled = given_up;
  } catch (const Trap& trap) {
    if (trap.kind != Trap::Kind::limit) throw;
    comparison.unsettled = reason_to_stop();
  }
  return std::nullopt;
}

void LaunchComparer::compare(const RecordedLaunch& launch, const Kernel& kernel, const Run& first, Comparison& comparison) const {
  std::optional<Run> other;
  for (std::size_t b = 0; b < launch.buffers.size(); ++b) {
    if (comparison.different == 0) stop_if_asked();
    const RecordedBuffer& buffer = launch.buffers[b];
    const std::optional<std::size_t> parameter = parameter_of(launch, buffer);
    BufferDifference difference{.buffer = b,
                                .parameter = parameter ? fmt::format("parameter {}", *parameter) : "",
                                .type = pointed_type(demangled_name(launch.kernel), parameter.value_or(~std::size_t{0})),
                                .bytes = 0,
                                .elements = 0,
                                .first = {}};
    const std::vector<std::uint8_t> gpu = archive_.read(buffer.after);
    std::vector<std::uint64_t> places = different_bytes(gpu, first.buffers[b]);
    std::uint64_t left_out = 0;
    if (buffer.again) {
      const std::set<std::uint64_t> varying = elements_of(different_bytes(gpu, archive_.read(*buffer.again)), difference.type);
      left_out = remove(places, varying, difference.type, gpu.size());
      comparison.nondeterministic += left_out;
    }
    if (!places.empty() && !other && comparison.unsettled.empty()) other = run_otherwise(launch, kernel, comparison);
    if (!places.empty() && other) {
      const std::set<std::uint64_t> varying = elements_of(different_bytes(first.buffers[b], other->buffers[b]), difference.type);
      const std::uint64_t unordered = remove(places, varying, difference.type, gpu.size());
      comparison.order_dependent += unordered;
      left_out += unordered;
    }
    comparison.bytes += gpu.size() - left_out;
    comparison.different += places.size();
    if (places.empty()) continue;
    difference.bytes = places.size();
    add_elements(difference, places, gpu, first.buffers[b]);
    comparison.buffers.push_back(std::move(difference));
  }
}

Comparison LaunchComparer::compare(const RecordedLaunch& launch, const std::string& target) {
  Comparison comparison;
  comparison.target = options_.target.empty() ? target : options_.target;
  const auto start = std::chrono::steady_clock::now();
  try {
    stop_if_asked();  // before the module is read
    const Kernel& executed = kernel(launch, comparison.target);
    must_be_alone(program_of(executed));
    const Run first = run(launch, executed, 0);
    compare(launch, executed, first, comparison);
    comparison.printed = first.printed;
    if (launch.printed) comparison.same_text = same_printed(launch.config, *launch.printed, first.printed);
  } catch (const GivenUp&) {
    comparison = Comparison();
    comparison.given_up = true;
    comparison.not_compared = given_up;
  } catch (const Trap& trap) {
    comparison.stopped = trap.kind != Trap::Kind::limit;
    comparison.given_up = !comparison.stopped && options_.stop && options_.stop();
    comparison.not_compared = comparison.stopped ? trap.what() : comparison.given_up ? given_up : reason_to_stop();
  } catch (const SyntaxError& e) {
    comparison.not_compared = fmt::format("warpmat does not execute it: {}", e.what());
  } catch (const std::invalid_argument& e) {
    comparison.not_compared = fmt::format("warpmat does not execute it: {}", e.what());
  }
  comparison.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return comparison;
}

}  // namespace warpmat::programs
