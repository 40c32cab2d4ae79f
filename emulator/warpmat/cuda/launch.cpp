// <<<>>> and its kin.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <warpmat/cuda/control.h>
#include <warpmat/cuda/graph.h>
#include <warpmat/cuda/launch.h>
#include <warpmat/cuda/per_thread.h>
#include <warpmat/cuda/registration.h>
#include <warpmat/cuda/report.h>
#include <warpmat/cuda/save.h>
#include <warpmat/cuda/stream.h>
#include <warpmat/cuda/waiting.h>
#include <warpmat/launch/running_launch.h>
#include <warpmat/lower/resolve.h>
#include <warpmat/machine/device_heap.h>
#include <warpmat/machine/internals.h>
#include <warpmat/provenance.h>
#include <warpmat/report/report.h>
#include <warpmat/tables/hardware.h>

namespace warpmat::cuda {
namespace {

Dim3 dim3_of(const GridSize& size) {
  return {size.x, size.y, size.z};
}

/// Throws ApiError with the sentence unless `good`: `<<<>>>` returns nothing, and many programs do not ask whether a launch failed.
template <typename... Values>
void require_shape(bool good, Error code, fmt::format_string<Values...> sentence, Values... values) {
  if (!good) throw ApiError(code, fmt::vformat(sentence, fmt::make_format_args(values...)));
}

std::uint64_t product(GridSize size) {
  return std::uint64_t{size.x} * size.y * size.z;
}

std::string text(GridSize size) {
  return fmt::format("{} x {} x {}", size.x, size.y, size.z);
}

/// What the runtime refuses before a kernel begins.
void check_shape(const Request& request) {
  const auto check = [](const char* what, GridSize size, const std::array<std::uint32_t, 3>& most) {
    const bool fits = size.x - 1 < most[0] && size.y - 1 < most[1] && size.z - 1 < most[2];
    if (!fits)
      throw ApiError(cudaErrorInvalidValue,
                     fmt::format("{} of {}: each must be at least 1, and at most {}", what, text(size), text({most[0], most[1], most[2]})));
  };
  check("a grid", request.grid, max_grid);
  check("blocks", request.block, max_block);
  const std::uint64_t threads = product(request.block);
  require_shape(threads <= max_block_threads, cudaErrorInvalidValue, "{} threads in a block, which has at most {}", threads,
                max_block_threads);
}

void check_shared(const Context& context, const Request& request, const code::Program& program) {
  const auto most = static_cast<std::size_t>(request.function->on_gpu().dynamic_shared_bytes);
  const std::size_t usual = std::size_t{48} << 10;
  require_shape(request.shared_bytes <= most, cudaErrorInvalidValue,
                "{} bytes of dynamic shared memory: the kernel may have {} until cudaFuncSetAttribute allows more", request.shared_bytes,
                most);
  const std::size_t all = program.dynamic_offset + request.shared_bytes, limit = most > usual ? context.device.shared_per_block : usual;
  require_shape(all <= limit, cudaErrorInvalidValue, "{} bytes of shared memory, {} of them dynamic: a block may have {}", all,
                request.shared_bytes, limit);
}

void check_cluster(const Request& request, const code::Program& program) {
  const GridSize size = request.cluster, grid = request.grid;
  const std::uint64_t blocks = product(size);
  const std::uint64_t most = request.function->on_gpu().non_portable_cluster ? most_cluster : most_portable_cluster;
  constexpr Error code = cudaErrorInvalidClusterSize;
  require_shape(blocks != 0 && blocks <= most, code, "clusters of {} blocks: 1 to {} are possible", blocks, most);
  const bool divides = grid.x % size.x == 0 && grid.y % size.y == 0 && grid.z % size.z == 0;
  if (!divides) throw ApiError(code, fmt::format("a grid of {} blocks cannot be cut into clusters of {}", text(grid), text(size)));
  require_shape(blocks == 1 || hardware_traits(program.target->number).clusters, cudaErrorNotSupported, "{} has no clusters",
                program.target->name);
  const std::int64_t* const needed = program.limits.required_cluster;
  const bool fits = needed[0] == 0 || (grid.x % needed[0] == 0 && grid.y % needed[1] == 0 && grid.z % needed[2] == 0);
  require_shape(fits, code, "the kernel's clusters of {} x {} x {} do not divide its grid", needed[0], needed[1], needed[2]);
}

void check_threads(const Request& request, const code::Program& program) {
  const auto most = static_cast<std::uint64_t>(most_threads(program.limits)), threads = product(request.block);
  require_shape(threads <= most, cudaErrorInvalidValue, "{} threads in a block: the kernel allows {}", threads, most);
}

/// All blocks of a cooperative launch must be on the GPU at once.
void check_cooperative(const Context& context, const Request& request, const code::Program& program) {
  const int blocks = active_blocks(context.device, program, static_cast<int>(product(request.block)), request.shared_bytes);
  const auto most = static_cast<std::uint64_t>(blocks) * static_cast<std::uint64_t>(context.device.processors), all = product(request.grid);
  require_shape(all <= most, cudaErrorCooperativeLaunchTooLarge, "{} blocks of a cooperative launch: the GPU holds {} at once", all, most);
}

/// The memory by which the blocks of a grid wait for each other, as CUDA's cooperative groups have it: its size, and a barrier.
struct GridWorkspace {
  std::uint32_t bytes = sizeof(GridWorkspace), barrier = 0;
};

/// Of each GPU those that no launch uses, each with its address.
struct Workspaces {
  std::map<int, std::vector<std::uint64_t>> free;

  void leave(Context& context, Owner owner) {
    if (!is_primary(owner)) return;
    for (const std::uint64_t address : std::exchange(free[gpu_of(owner)], {})) context.space.memory().free(address);
  }
};

/// The address of a workspace, with its barrier as at the start of a launch.
std::uint64_t take_workspace(Context& context) {
  std::vector<std::uint64_t>& free = context.part<Workspaces>().free[current_gpu()];
  if (free.empty()) free.push_back(context.space.memory().allocate(sizeof(GridWorkspace), "the barrier of a cooperative launch"));
  const std::uint64_t address = free.back();
  free.pop_back();
  const GridWorkspace fresh;
  std::memcpy(context.space.memory().bytes(address, sizeof fresh).data(), &fresh, sizeof fresh);
  return address;
}

void check_arguments(const code::Program& program, void* const* arguments) {
  for (std::size_t i = 0; i < program.parameters.size(); ++i) require(arguments != nullptr && arguments[i] != nullptr);
}

std::vector<Argument> copy_arguments(const code::Program& program, void* const* arguments) {
  check_arguments(program, arguments);
  std::vector<Argument> copies;
  for (std::size_t i = 0; i < program.parameters.size(); ++i) {
    const auto* const from = static_cast<const std::uint8_t*>(arguments[i]);
    copies.emplace_back(std::vector<std::uint8_t>(from, from + program.parameters[i].bytes));
  }
  return copies;
}

/// The runtime's code for what ended a kernel. A trap of a check that no GPU has is a launch failure.
Error code_of(const Trap& trap) {
  switch (trap.kind) {
    case Trap::Kind::out_of_range: return cudaErrorIllegalAddress;
    case Trap::Kind::misaligned: return cudaErrorMisalignedAddress;
    case Trap::Kind::deadlock: return cudaErrorLaunchTimeout;
    case Trap::Kind::stopped: return trap.site.statement.starts_with("call") ? cudaErrorAssert : cudaErrorLaunchFailure;
    case Trap::Kind::misuse:
    case Trap::Kind::undefined:
    case Trap::Kind::unwritten:
    case Trap::Kind::unordered:
    case Trap::Kind::limit:
    case Trap::Kind::mispaired:
    case Trap::Kind::refused: break;
  }
  return cudaErrorLaunchFailure;
}

/// What a kernel reports, as compilers print it.
std::string text_of(Context& context, const Kernel& kernel, const Report& report) {
  ReportStyle style = style_of_terminal();
  style.full_names = context.settings.full_names;
  style.suppressions = context.settings.print_suppressions;
  style.colour = style.colour && !keeps_reports(context);
  style.ptx = *program_of(kernel).module->text;
  style.compiled = true;
  return report_text(report, style);
}

/// The kernel and the line of a warning, in the source where that is known. Its block, lane and address may be others in each launch.
std::string key_of(const Report& warning) {
  const std::string place = warning.at.source.empty() ? std::to_string(warning.at.line) : warning.at.source;
  return fmt::format("{}, {}: {}", warning.kernel, place, warning.text);
}

/// Says what ended a launch, or keeps it for the host.
void tell(Context& context, const Kernel& kernel, const LaunchRecord& record) {
  const Report report = record.error ? report_of(*record.error) : Report{.rule = "host", .text = record.trap};
  const std::string text = record.error ? text_of(context, kernel, report) : fmt::format("warpmat: {}\n", record.trap);
  if (!told_to_host(context, report, text)) say_as_is(text);
}

/// Says of each warning of a launch what no launch before has said, or keeps them for the host.
void say_warnings(Context& context, const Kernel& kernel, const LaunchResult& result) {
  std::vector<Report> warnings;
  for (const Trap& warning : result.warned) warnings.push_back(report_of(warning, Report::Level::warning));
  for (const Report& warning : without_repetitions(std::move(warnings))) {
    const std::string text = text_of(context, kernel, warning);
    if (!told_to_host(context, warning, text)) say_once_as_is(text, key_of(warning));
  }
}

/// All that decides whether a launch is possible, but for its arguments.
struct LaunchShape {
  const Function* function = nullptr;
  GridSize grid{}, block{}, cluster{};
  std::size_t shared_bytes = 0;
  bool cooperative = false;
  Owner owner = no_owner;
  Function::OfGpu limits = {};
  friend bool operator==(const LaunchShape&, const LaunchShape&) = default;
};

LaunchShape shape_of(const Request& request) {
  return {.function = request.function,
          .grid = request.grid,
          .block = request.block,
          .cluster = request.cluster,
          .shared_bytes = request.shared_bytes,
          .cooperative = request.cooperative,
          .owner = current_owner(),
          .limits = request.function->on_gpu()};
}

/// A launch whose request has been checked.
struct CheckedLaunch {
  std::shared_ptr<const Function> function;
  LaunchShape shape = {};  ///< nothing: a kernel has made the launch
  Kernel kernel;
  LaunchConfig config;
  std::vector<Argument> arguments;
};
using SharedLaunch = std::shared_ptr<const CheckedLaunch>;

/// One launch of a kernel. Its output goes to standard output, its trap to standard error and into the context.
class OneLaunch {
 public:
  /// `workspace`: of a cooperative launch, else 0.
  OneLaunch(Context& context, SharedLaunch launch, std::uint64_t workspace) : launch_(std::move(launch)), config_(launch_->config) {
    if (workspace != 0) config_.workspace = workspace;
    set_options(context);
    save_launch(context, *launch_->function, launch_->kernel, config_, launch_->arguments);
    record_.begun = record_begin(context, *launch_->function);
  }

  /// Returns whether it has ended, else it waits.
  bool run(Context& context, machine::Patience patience) {
    const HostAccess access(context.space.ranges_at_host());
    DeviceMemory& memory = context.space.memory();
    const auto start = std::chrono::steady_clock::now();
    bool ended = true;
    try {
      const AddressSpace::View view(context.space);
      if (!running_) begin(context, memory);
      ended = running_->run(patience);
      if (ended) record_.result = products_ ? products_->finish(running_->result()) : running_->result();
    } catch (const Trap& trap) {
      record_.fault = code_of(trap);
      record_.trap = trap.what();
      record_.error.emplace(trap);
    }
    if (const auto address = access.refused(); address && record_.fault == cudaSuccess) {
      record_.fault = cudaErrorIllegalAddress;
      record_.trap = fmt::format("kernel '{}': {}", launch_->function->name, refused_text(*address));
      ended = true;
    }
    if (!ended || profiler_ || tells(record_))
      record_.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (ended) end(context);
    return ended;
  }

  bool moved() const { return running_->moved(); }

  /// Whether it has ended, and may run again: nobody wants to know of each launch.
  bool can_repeat(const Context& context) const {
    const Settings& settings = context.settings;
    const bool is_recorded = !settings.report.empty() && settings.every_launch;
    return !profiler_ && !products_ && settings.save.empty() && !is_recorded && !tells(record_) && running_->can_repeat();
  }
  void begin_again(Context& context, void* const* arguments) {
    static_cast<void>(context.space.memory());  // where the current GPU places the module
    record_.begun = false;
    running_->begin_again(arguments);
  }

  /// The launches that the kernel has made.
  std::vector<ChildLaunch> take_children() { return std::move(children_.made); }

 private:
  void set_options(Context& context) {
    const Settings& settings = context.settings;
    options_ = {.jobs = settings.jobs,
                .schedule = settings.schedule,
                .timing = settings.timing,
                .execution = {.undefined = settings.undefined},
                .most_seconds = settings.launch_seconds,
                .checks = settings.checks,
                .children = &children_};
    if (!context.suppressions.empty())
      options_.suppresses = [&context](const Trap& report) { return context.suppressions.suppresses(report_of(report)); };
    if (settings.profile) profiler_.emplace(launch_->kernel);
  }

  void begin(Context& context, DeviceMemory& memory) {
    if (const auto& products = context.settings.products; !products.empty())
      products_.emplace(launch_->kernel, config_, memory, launch_->arguments, ProductRequest{.products = products}).observe(options_);
    if (profiler_) options_.observers_of_clusters.emplace_back([this](std::uint64_t) { return profiler_->observer(); });
    running_.emplace(launch_->kernel, config_, memory, launch_->arguments, options_);
  }

  void end(Context& context) {
    if (record_.fault != cudaSuccess) {
      context.set_fault(record_.fault);
      tell(context, launch_->kernel, record_);
    }
    if (profiler_) record_.profile = profiler_->result();
    print(context, record_.result.printed);
    if (profiler_) keep_profile(context, launch_->kernel, *record_.profile);
    say_warnings(context, launch_->kernel, record_.result);
    record_launch(context, *launch_->function, record_);
  }

  SharedLaunch launch_;
  LaunchConfig config_;
  ChildLaunches children_;
  std::optional<Profiler> profiler_;
  std::optional<ProductCheck> products_;
  LaunchOptions options_;
  LaunchRecord record_{.config = &config_};
  std::optional<RunningLaunch> running_;
};

/// The arguments of a launch from a kernel, which lie at the offsets of the parameters.
std::vector<Argument> arguments_of(const code::Program& program, const ChildLaunch& child) {
  std::vector<Argument> arguments;
  for (const code::Parameter& parameter : program.parameters) {
    const auto from = child.parameters.begin() + parameter.offset;
    arguments.emplace_back(std::vector<std::uint8_t>(from, from + parameter.bytes));
  }
  return arguments;
}

/// A copy or fill that a kernel has left. It reaches what kernels reach: its error is the kernel's.
void perform(Context& context, const ChildLaunch& child) {
  const auto pointer = [](std::uint64_t address) { return reinterpret_cast<const void*>(static_cast<std::uintptr_t>(address)); };
  const auto at = [&](std::uint64_t address) { return context.space.device_bytes(pointer(address), child.bytes); };
  if (child.bytes == 0) return;
  const bool copies = child.kind == ChildLaunch::Kind::copy;
  try {
    const AddressSpace::View view(context.space);
    access_host(context.space.ranges_at_host(), [&] {
      if (copies)
        std::memmove(at(child.to), at(child.from), child.bytes);
      else
        std::memset(at(child.to), static_cast<int>(child.from), child.bytes);
    });
    if (copies)
      context.space.note_copied(pointer(child.to), pointer(child.from), child.bytes);
    else
      context.space.note_written(pointer(child.to), child.bytes);
  } catch (const ApiError& error) {
    context.set_fault(cudaErrorIllegalAddress);
    say(fmt::format("a {} that a kernel made: {}", copies ? "copy" : "fill", error.what()));
  }
}

/// A kernel that is launched. A GPU would run it where warpmat refuses it: the record says so, as programs may not look at the error.
const Kernel& kernel_to_run(Context& context, const Function& function) {
  try {
    return function.module->kernel(context, function.name);
  } catch (const ApiError& e) {
    record_refusal(context, function, e.what());
    throw;
  }
}

/// A launch, then the launches that its kernel makes, then those that they make: a legal order, as a kernel cannot wait for what it
/// launches.
class LaunchWithChildren final : public Paused {
 public:
  LaunchWithChildren(Context& context, SharedLaunch launch) : context_(context), launch_(std::move(launch)) {
    if (launch_->shape.cooperative) workspace_ = take_workspace(context);
    current_.emplace(context, launch_, workspace_);
  }
  ~LaunchWithChildren() override {
    if (workspace_ != 0) context_.part<Workspaces>().free[gpu_].push_back(workspace_);
  }

  bool run(Context& context, machine::Patience patience) override {
    while (current_->run(context, patience)) {
      for (ChildLaunch& child : current_->take_children()) (child.stream == tail_stream ? tails_ : waiting_).push_back(std::move(child));
      bool is_next = false;
      while (!is_next && !context.has_fault() && !(waiting_.empty() && tails_.empty())) is_next = begin_next(context);
      if (!is_next) return true;
    }
    return false;
  }

  bool moved() const override { return current_->moved(); }

  const LaunchShape& shape() const { return launch_->shape; }
  /// Whether it has ended, and may run again.
  bool can_repeat() const { return workspace_ == 0 && !is_child_ && current_->can_repeat(context_); }
  void begin_again(Context& context, void* const* arguments) {
    check_arguments(program_of(launch_->kernel), arguments);
    current_->begin_again(context, arguments);
  }

 private:
  static constexpr std::uint64_t tail_stream = 3;

  /// A copy or fill is then performed, a kernel is the current one. Returns whether it is a kernel.
  bool begin_next(Context& context) {
    std::list<ChildLaunch>& from = waiting_.empty() ? tails_ : waiting_;
    const ChildLaunch child = std::move(from.front());
    from.pop_front();
    if (child.kind != ChildLaunch::Kind::kernel) {
      cuda::perform(context, child);
      return false;
    }
    const Function& callee = function_in(*launch_->function->module, child.entry);
    const Kernel& kernel = kernel_to_run(context, callee);
    is_child_ = true;
    current_.emplace(context,
                     std::make_shared<const CheckedLaunch>(
                         CheckedLaunch{.function = {launch_->function, &callee},  // of the same module
                                       .kernel = kernel,
                                       .config = {.grid = child.grid, .block = child.block, .shared_bytes = child.shared_bytes},
                                       .arguments = arguments_of(program_of(kernel), child)}),
                     0);
    return true;
  }

  Context& context_;
  const SharedLaunch launch_;
  const int gpu_ = current_gpu();
  std::uint64_t workspace_ = 0;
  std::optional<OneLaunch> current_;
  bool is_child_ = false;                   ///< the current one
  std::list<ChildLaunch> waiting_, tails_;  ///< lists: an empty one allocates nothing
};

/// Launches that have ended, to run again with other arguments. To check and prepare one takes longer than a small kernel runs, and most
/// programs launch few kernels, each with one shape.
class KeptLaunches {
 public:
  /// One of this shape, or null.
  std::unique_ptr<LaunchWithChildren> take(const LaunchShape& shape) {
    const auto found = std::ranges::find_if(all_, [&](const auto& each) { return each->shape() == shape; });
    if (found == all_.end()) return nullptr;
    std::unique_ptr<LaunchWithChildren> launch = std::move(*found);
    all_.erase(found);
    return launch;
  }
  void keep(std::unique_ptr<LaunchWithChildren> launch) {
    constexpr std::size_t most = 16;
    if (all_.size() == most) all_.pop_back();
    all_.insert(all_.begin(), std::move(launch));
  }
  void clear() { all_.clear(); }
  void leave(Context&, Owner) { clear(); }

 private:
  std::vector<std::unique_ptr<LaunchWithChildren>> all_;  ///< the last one first
};

void prepare(Context& context, DeviceModule& module) {
  require(module.is_loaded(), cudaErrorInvalidResourceHandle);  // a graph may hold it longer than the program
  module.share_managed(context);
  if (module.uses_heap()) static_cast<void>(heap_of(context.space.memory()));
}

void run(Context& context, std::unique_ptr<LaunchWithChildren> launch) {
  if (!launch->run(context, machine::Patience::brief))
    pause(context, std::move(launch));
  else if (launch->can_repeat())
    context.part<KeptLaunches>().keep(std::move(launch));
}

/// Runs a launch of this shape, if one is kept. Returns whether it is.
bool repeat(Context& context, const LaunchShape& shape, void* const* arguments) {
  std::unique_ptr<LaunchWithChildren> launch = context.part<KeptLaunches>().take(shape);
  if (launch == nullptr) return false;
  prepare(context, *shape.function->module);
  launch->begin_again(context, arguments);
  run(context, std::move(launch));
  return true;
}

void perform(Context& context, const SharedLaunch& launch) {
  try {
    prepare(context, *launch->function->module);
    run(context, std::make_unique<LaunchWithChildren>(context, launch));
  } catch (const std::invalid_argument& e) {  // .reqntid, .reqnctapercluster
    throw ApiError(cudaErrorInvalidConfiguration, e.what());
  }
}

/// Attributes of launches and streams that do something here: cudaLaunchAttributeID. The others are hints about time, which change no
/// result.
enum Attribute : int {
  access_policy_window = 1,
  cooperative = 2,
  cluster_dimension = 4,
  programmatic_event = 7,
  completion_event = 12,
  device_node = 13,
  last_attribute = 16
};

/// The configurations that `<<<>>>` has pushed in this thread. An argument of a launch may hold another launch.
struct PushedConfigurations {
  struct One {
    GridSize grid, block;
    std::size_t shared_bytes;
    Stream* stream;
  };
  std::array<One, 32> all;
  std::size_t count = 0;
};

PushedConfigurations& pushed() {
  static thread_local PushedConfigurations configurations;
  return configurations;
}

}  // namespace

void check_attribute(int id, const void* value) {
  require(id >= 0 && id <= last_attribute);
  struct Window {  ///< cudaAccessPolicyWindow
    void* base;
    std::size_t bytes;
    float hits;
    int hit, miss;
  } window;
  if (id != access_policy_window) return;
  std::memcpy(&window, value, sizeof window);
  require(window.hits >= 0 && window.hits <= 1);
}

void apply(const LaunchAttribute& attribute, Request& request) {
  check_attribute(attribute.id, attribute.value.bytes);
  const auto& cluster = attribute.value.cluster;
  switch (attribute.id) {
    case cluster_dimension: request.cluster = {cluster[0], cluster[1], cluster[2]}; break;
    case cooperative: request.cooperative = attribute.value.cooperative != 0; break;
    case programmatic_event:
    case completion_event:
    case device_node: throw ApiError(cudaErrorNotSupported, fmt::format("launch attribute {} is not supported", attribute.id));
    default: break;
  }
}

namespace {

SharedLaunch check(Context& context, const Request& request, void** arguments) {
  require(owner_of_module(*request.function->module) == current_owner(), cudaErrorInvalidResourceHandle);
  check_shape(request);
  const Kernel& kernel = kernel_to_run(context, *request.function);
  const code::Program& program = program_of(kernel);
  check_threads(request, program);
  check_shared(context, request, program);
  check_cluster(request, program);
  if (request.cooperative) check_cooperative(context, request, program);
  return std::make_shared<const CheckedLaunch>(CheckedLaunch{.function = share(*request.function),
                                                             .shape = shape_of(request),
                                                             .kernel = kernel,
                                                             .config = {.grid = dim3_of(request.grid),
                                                                        .block = dim3_of(request.block),
                                                                        .shared_bytes = static_cast<std::uint32_t>(request.shared_bytes),
                                                                        .cluster = dim3_of(request.cluster)},
                                                             .arguments = copy_arguments(program, arguments)});
}

GraphNode node_of(const Request& request, const SharedLaunch& launch) {
  auto node = std::make_shared<KernelNode>(KernelNode{.request = request, .function = launch->function, .arguments = {}, .pointers = {}});
  for (const Argument& argument : launch->arguments) node->arguments.push_back(argument.bytes());
  for (auto& bytes : node->arguments) node->pointers.push_back(bytes.data());
  return {.type = NodeType::kernel, .work = [launch](Context& state) { perform(state, launch); }, .made_from = std::move(node)};
}

}  // namespace

void forget_launches(Context& context) {
  context.part<KeptLaunches>().clear();
}

GraphNode kernel_node(Context& context, const Request& request, void** arguments) {
  return node_of(request, check(context, request, arguments));
}

/// It runs in the stream's context, whichever is current.
void launch_kernel(Context& context, const Request& request, void** arguments) {
  const AsOwner as(owner_of_stream(request.stream));
  if (!is_busy(context) && !captures(request.stream) && repeat(context, shape_of(request), arguments)) return;
  const SharedLaunch launch = check(context, request, arguments);
  if (capture(request.stream, [&] { return node_of(request, launch); })) return;
  run_in_order(context, request.stream, [launch](Context& state) { perform(state, launch); });
}

WARPMAT_CUDA_API unsigned __cudaPushCallConfiguration(GridSize grid, GridSize block, std::size_t shared_bytes, Stream* stream) {
  PushedConfigurations& stack = pushed();
  if (stack.count == stack.all.size()) return 1;
  stack.all[stack.count++] = {grid, block, shared_bytes, stream};
  return 0;
}

WARPMAT_CUDA_API Error __cudaPopCallConfiguration(GridSize* grid, GridSize* block, std::size_t* shared_bytes, void* stream) {
  PushedConfigurations& stack = pushed();
  if (grid == nullptr || block == nullptr || shared_bytes == nullptr || stream == nullptr) return last_error() = cudaErrorInvalidValue;
  if (stack.count == 0) return last_error() = cudaErrorMissingConfiguration;
  const PushedConfigurations::One& top = stack.all[--stack.count];
  *grid = top.grid;
  *block = top.block;
  *shared_bytes = top.shared_bytes;
  *static_cast<Stream**>(stream) = top.stream;
  return cudaSuccess;
}

WARPMAT_CUDA_API Error cudaLaunchKernel(const void* function, GridSize grid, GridSize block, void** arguments, std::size_t shared_bytes,
                                        Stream* stream) {
  return enqueue("cudaLaunchKernel", [&](Context& context) {
    launch_kernel(context,
                  {.function = &function_of(function), .grid = grid, .block = block, .shared_bytes = shared_bytes, .stream = stream},
                  arguments);
  });
}

WARPMAT_CUDA_API Error __cudaLaunchKernel(const void* kernel, GridSize grid, GridSize block, void** arguments, std::size_t shared_bytes,
                                          Stream* stream) {
  return cudaLaunchKernel(kernel, grid, block, arguments, shared_bytes, stream);
}

WARPMAT_CUDA_API Error cudaLaunchKernelExC(const LaunchConfiguration* config, const void* function, void** arguments) {
  return enqueue(__func__, [&](Context& context) {
    require(config != nullptr && (config->numAttrs == 0 || config->attrs != nullptr));
    Request request{.function = &function_of(function),
                    .grid = config->gridDim,
                    .block = config->blockDim,
                    .shared_bytes = config->dynamicSmemBytes,
                    .stream = config->stream};
    for (unsigned i = 0; i < config->numAttrs; ++i) apply(config->attrs[i], request);
    launch_kernel(context, request, arguments);
  });
}

WARPMAT_CUDA_API Error cudaLaunchCooperativeKernel(const void* function, GridSize grid, GridSize block, void** arguments,
                                                   std::size_t shared_bytes, Stream* stream) {
  return enqueue(__func__, [&](Context& context) {
    launch_kernel(context,
                  {.function = &function_of(function),
                   .grid = grid,
                   .block = block,
                   .shared_bytes = shared_bytes,
                   .stream = stream,
                   .cooperative = true},
                  arguments);
  });
}

WARPMAT_CUDA_API Error __cudaGetKernel(Function** kernel, const void* stub) {
  return enqueue("__cudaGetKernel", [&](Context&) {
    require(kernel != nullptr);
    *kernel = &function_of(stub);
  });
}

WARPMAT_CUDA_API Error cudaGetKernel(Function** kernel, const void* stub) {
  return __cudaGetKernel(kernel, stub);
}

WARPMAT_CUDA_API Error cudaGetFuncBySymbol(Function** function, const void* stub) {
  return __cudaGetKernel(function, stub);
}

WARPMAT_CUDA_PER_THREAD(cudaLaunchKernel, ptsz)
WARPMAT_CUDA_PER_THREAD(__cudaLaunchKernel, ptsz)
WARPMAT_CUDA_PER_THREAD(cudaLaunchKernelExC, ptsz)
WARPMAT_CUDA_PER_THREAD(cudaLaunchCooperativeKernel, ptsz)

}  // namespace warpmat::cuda
