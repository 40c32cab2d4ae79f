// The C interface of launches.

#include <algorithm>
#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include <fmt/core.h>

#include <warpmat/c_program.h>
#include <warpmat/c_program/handles.h>
#include <warpmat/c_program/observer.h>
#include <warpmat/launch.h>
#include <warpmat/launch/check_list.h>
#include <warpmat/provenance.h>

using namespace warpmat;
using namespace warpmat::c;

namespace {

std::vector<Argument> arguments_of(const warpmat_launch_config& config) {
  if (config.argument_count != 0) need(config.arguments, "config->arguments");
  std::vector<Argument> arguments;
  for (std::size_t i = 0; i < config.argument_count; ++i) {
    const warpmat_argument& argument = config.arguments[i];
    if (argument.byte_count != 0) need(argument.bytes, fmt::format("the bytes of argument {}", i).c_str());
    const auto* first = static_cast<const std::uint8_t*>(argument.bytes);
    arguments.emplace_back(std::vector<std::uint8_t>(first, first + argument.byte_count));
  }
  return arguments;
}

Dim3 dimensions(const std::uint32_t* of) {
  return {std::max(of[0], 1u), std::max(of[1], 1u), std::max(of[2], 1u)};
}

constexpr unsigned launch_flags = WARPMAT_UNDEFINED_AS_HARDWARE | WARPMAT_REFERENCE_PATH;

/// The caller's byte as what C++ writes: an atomic bool is one byte, 0 or 1, that takes no lock.
const std::atomic<bool>* stop_of(const warpmat_launch_config& config) {
  static_assert(sizeof(std::atomic<bool>) == sizeof(*config.stop) && std::atomic<bool>::is_always_lock_free);
  return reinterpret_cast<const std::atomic<bool>*>(const_cast<const std::uint8_t*>(config.stop));
}

ProductRequest request_of(const warpmat_launch_config& config) {
  if (config.gemm_block_count != 0) need(config.gemm_blocks, "config->gemm_blocks");
  if ((config.why == nullptr) != (config.tell_why == nullptr)) throw std::invalid_argument("config->why and tell_why go together");
  ProductRequest request{.products = parse_products(text_of(config.gemm)), .element = parse_element(text_of(config.why))};
  for (std::size_t i = 0; i < config.gemm_block_count; ++i)
    request.blocks.push_back({config.gemm_blocks[i].x, config.gemm_blocks[i].y, config.gemm_blocks[i].z});
  return request;
}

Checks checks_of(const warpmat_launch_config& config) try {
  return config.checks != nullptr ? parse_checks(config.checks) : Checks{};
} catch (const std::runtime_error& wrong) {
  throw std::invalid_argument(wrong.what());
}

LaunchOptions options_of(const warpmat_launch_config& config) {
  need_known_flags(config.flags, launch_flags);
  return {.jobs = config.jobs,
          .schedule = config.schedule,
          .execution = execution_of(config.flags),
          .most_operations = config.most_operations,
          .most_block_bytes = config.most_block_bytes,
          .most_seconds = config.most_seconds,
          .checks = checks_of(config),
          .stop = stop_of(config)};
}

void add_observers_of_clusters(const warpmat_launch_config& config, LaunchOptions& options) {
  if (config.observer_of_cluster == nullptr) return;
  options.observers_of_clusters.push_back(
      [make = config.observer_of_cluster, user = config.user](std::uint64_t cluster) -> std::unique_ptr<machine::Observer> {
        const warpmat_observer* const observer = make(user, cluster);
        if (observer == nullptr) return nullptr;
        return observer_of(observer, fmt::format("the observer of cluster {}", cluster).c_str());
      });
}

// ---- What a launch tells when it has ended well

void tell_warnings(const warpmat_launch_config& config, const LaunchResult& result) {
  for (const std::string& warning : result.warnings) config.warn(config.user, warning.c_str());
  for (const std::string& place : result.absent_lanes) {
    const std::string text = fmt::format("{} reads lanes that take no part, which PTX leaves undefined; they gave 0, as on sm_90", place);
    config.warn(config.user, text.c_str());
  }
}

void tell_why(const warpmat_launch_config& config, const Why& why) {
  std::vector<warpmat_why_step> steps;
  for (const Why::Step& step : why.steps)
    steps.push_back({step.opcode.c_str(), step.where.c_str(), step.row, step.column, step.depths.data(), step.depths.size(), step.a.data(),
                     step.b.data(), step.c.data(), step.a.size(), step.b.size(), step.c.size()});
  const warpmat_why given{sizeof given, why.text.c_str(), steps.data(), steps.size()};
  config.tell_why(config.user, &given);
}

void tell_child(const warpmat_launch_config& config, const ChildLaunch& child) {
  const warpmat_child_launch given{sizeof given,
                                   static_cast<warpmat_child_kind>(child.kind),
                                   child.entry.c_str(),
                                   {child.grid.x, child.grid.y, child.grid.z},
                                   {child.block.x, child.block.y, child.block.z},
                                   child.shared_bytes,
                                   child.stream,
                                   child.parameters.data(),
                                   child.parameters.size(),
                                   child.to,
                                   child.from,
                                   child.bytes};
  config.child(config.user, &given);
}
static_assert(static_cast<int>(ChildLaunch::Kind::copy) == WARPMAT_CHILD_COPY);
static_assert(static_cast<int>(ChildLaunch::Kind::fill) == WARPMAT_CHILD_FILL);

}  // namespace

warpmat_status warpmat_launch(const warpmat_kernel* kernel, const warpmat_launch_config* given, warpmat_device_memory* memory,
                              uint64_t* operations, warpmat_error* error) {
  return done(error, [&] {
    need(kernel, "the kernel");
    need(given, "config");
    need(memory, "the memory");
    if (!WARPMAT_HAS_SIZE(given, user)) throw std::invalid_argument("config->size is not that of a warpmat_launch_config");
    const warpmat_launch_config config = whole(*given);
    LaunchOptions options = options_of(config);
    ChildLaunches children;
    if (config.child != nullptr) options.children = &children;
    add_observers_of_clusters(config, options);
    const CallbackObservers observers(config.observers, config.observer_count, "config->observers");
    options.observers = observers.all;
    const LaunchConfig launched{dimensions(config.grid), dimensions(config.block), config.shared_bytes, dimensions(config.cluster),
                                config.workspace};
    const ProductLaunch result =
        launch_products(kernel->kernel, launched, memory->memory, arguments_of(config), request_of(config), options);
    if (operations != nullptr) *operations = result.operations;
    if (config.print != nullptr && !result.printed.empty()) config.print(config.user, result.printed.c_str(), result.printed.size());
    if (config.warn != nullptr) tell_warnings(config, result);
    for (const Why& why : result.ways) tell_why(config, why);
    for (const ChildLaunch& child : children.made) tell_child(config, child);
  });
}

void warpmat_set_threads(warpmat_run_on_threads threads) {
  set_threads(threads);
}
