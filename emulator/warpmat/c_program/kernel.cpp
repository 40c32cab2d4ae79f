// The C interface of whole kernels.

#include <algorithm>
#include <atomic>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include <fmt/core.h>

#include <warpmat/c/entry.h>
#include <warpmat/c_program.h>
#include <warpmat/c_program/errors.h>
#include <warpmat/c_program/observer.h>
#include <warpmat/launch.h>

using namespace warpmat;
using namespace warpmat::c;

struct warpmat_module {
  warpmat::Module module;
  std::vector<std::string> entries;
};

struct warpmat_kernel {
  warpmat::Kernel kernel;
};

struct warpmat_device_memory {
  warpmat::DeviceMemory memory;
};

namespace {

/// The status for the exception that is being handled; also reports it to `to`.
warpmat_status report_kernel_exception(warpmat_error* to) {
  try {
    throw;
  } catch (const Trap& trap) {
    return report(to, trap_error(trap));
  } catch (const SyntaxError& syntax) {
    return report(to, syntax_error(syntax));
  } catch (const std::invalid_argument& wrong) {
    return report(to, WARPMAT_BAD_ARGUMENT, wrong.what());
  } catch (const std::out_of_range& wrong) {
    return report(to, WARPMAT_OUT_OF_RANGE, wrong.what());
  } catch (const std::length_error&) {
    return report(to, WARPMAT_NO_MEMORY, "out of memory");
  } catch (...) {
    return report_exception(to);
  }
}

/// Calls `make`, which returns a pointer. Returns null and reports the error if it throws.
template <typename Make>
auto made(warpmat_error* error, Make make) -> decltype(make()) {
  try {
    return make();
  } catch (...) {
    report_kernel_exception(error);
    return nullptr;
  }
}

/// Calls `act`. Returns the status of what it throws, if anything.
template <typename Act>
warpmat_status done(warpmat_error* error, Act act) {
  try {
    act();
    return WARPMAT_OK;
  } catch (...) {
    return report_kernel_exception(error);
  }
}

/// Throws std::invalid_argument for a null pointer.
void need(const void* pointer, const char* what) {
  if (pointer == nullptr) throw std::invalid_argument(fmt::format("{} is null", what));
}

std::string text_of(const char* text) {
  return text == nullptr ? std::string() : text;
}

std::string entry_of(const warpmat_module& module, const char* entry) {
  if (entry != nullptr) return entry;
  if (module.entries.size() != 1) throw std::invalid_argument(fmt::format("the module has {} entries: say which", module.entries.size()));
  return module.entries.front();
}

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

constexpr unsigned launch_flags = WARPMAT_UNDEFINED_AS_HARDWARE | WARPMAT_REFERENCE_PATH | WARPMAT_CHECK_RACES | WARPMAT_CHECK_LANES |
                                  WARPMAT_SKIP_UNWRITTEN | WARPMAT_SKIP_COPIES | WARPMAT_WARN_STORES | WARPMAT_WARN_FENCES;

/// The caller's byte as what C++ writes: an atomic bool is one byte, 0 or 1, that takes no lock.
const std::atomic<bool>* stop_of(const warpmat_launch_config& config) {
  static_assert(sizeof(std::atomic<bool>) == sizeof(*config.stop) && std::atomic<bool>::is_always_lock_free);
  if (!WARPMAT_HAS_SIZE(&config, stop)) return nullptr;
  return reinterpret_cast<const std::atomic<bool>*>(const_cast<const std::uint8_t*>(config.stop));
}

LaunchOptions options_of(const warpmat_launch_config& config) {
  const auto asked = [&](unsigned flag) { return (config.flags & flag) != 0; };
  if (asked(~launch_flags)) throw std::invalid_argument(fmt::format("flags {:#x} are not known", config.flags & ~launch_flags));
  if (config.jobs < 0) throw std::invalid_argument(fmt::format("{} jobs: 0 or more", config.jobs));
  return {.jobs = config.jobs,
          .schedule = config.schedule,
          .execution = {asked(WARPMAT_REFERENCE_PATH) ? Path::reference : Path::fast,
                        asked(WARPMAT_UNDEFINED_AS_HARDWARE) ? Undefined::hardware : Undefined::trap},
          .most_operations = config.most_operations,
          .checks = {.uninitialised = !asked(WARPMAT_SKIP_UNWRITTEN),
                     .copies = !asked(WARPMAT_SKIP_COPIES),
                     .races = asked(WARPMAT_CHECK_RACES),
                     .lanes = asked(WARPMAT_CHECK_LANES),
                     .fences = !asked(WARPMAT_WARN_FENCES),
                     .stores = !asked(WARPMAT_WARN_STORES)},
          .gemm = WARPMAT_HAS_SIZE(&config, gemm) ? text_of(config.gemm) : "",
          .stop = stop_of(config)};
}

std::vector<std::unique_ptr<CallbackObserver>> observers_of(const warpmat_launch_config& config) {
  std::vector<std::unique_ptr<CallbackObserver>> all;
  if (!WARPMAT_HAS_SIZE(&config, observer_count) || config.observer_count == 0) return all;
  need(config.observers, "config->observers");
  for (std::size_t i = 0; i < config.observer_count; ++i) {
    const warpmat_observer* const observer = config.observers[i];
    need(observer, fmt::format("observer {}", i).c_str());
    if (!WARPMAT_HAS_SIZE(observer, access))
      throw std::invalid_argument(fmt::format("the size of observer {} is not that of a warpmat_observer", i));
    all.push_back(std::make_unique<CallbackObserver>(*observer));
  }
  return all;
}

}  // namespace

// ---- Modules and kernels

warpmat_module* warpmat_module_parse(const char* text, warpmat_error* error) {
  return made(error, [&] {
    need(text, "the text");
    Module module{std::string(text)};
    std::vector<std::string> entries = module.entries();
    return new warpmat_module{std::move(module), std::move(entries)};
  });
}

void warpmat_module_free(warpmat_module* module) {
  delete module;
}

int warpmat_module_entry_count(const warpmat_module* module) {
  return module == nullptr ? 0 : static_cast<int>(module->entries.size());
}

const char* warpmat_module_entry_name(const warpmat_module* module, int index) {
  if (index < 0 || index >= warpmat_module_entry_count(module)) return nullptr;
  return module->entries[static_cast<std::size_t>(index)].c_str();
}

warpmat_kernel* warpmat_kernel_create(const warpmat_module* module, const char* entry, const char* target, unsigned flags,
                                      warpmat_error* error) {
  return made(error, [&] {
    need(module, "the module");
    if ((flags & ~WARPMAT_NO_CONTRACTION) != 0) throw std::invalid_argument(fmt::format("flags {:#x} are not known", flags));
    const std::string target_name = text_of(target);
    if (target != nullptr && find_target(target_name) == nullptr) {
      report(error, WARPMAT_UNKNOWN_TARGET, fmt::format("unknown target '{}'; warpmat_target_name lists them", target_name));
      return static_cast<warpmat_kernel*>(nullptr);
    }
    const KernelOptions options{.target = target_name, .contract = (flags & WARPMAT_NO_CONTRACTION) == 0};
    return new warpmat_kernel{Kernel(module->module, entry_of(*module, entry), options)};
  });
}

void warpmat_kernel_free(warpmat_kernel* kernel) {
  delete kernel;
}

// ---- Memory

warpmat_device_memory* warpmat_device_memory_create(warpmat_error* error) {
  return made(error, [] { return new warpmat_device_memory; });
}

void warpmat_device_memory_free(warpmat_device_memory* memory) {
  delete memory;
}

warpmat_status warpmat_buffer_allocate(warpmat_device_memory* memory, uint64_t bytes, const char* name, uint64_t* address,
                                       warpmat_error* error) {
  return done(error, [&] {
    need(memory, "the memory");
    need(address, "address");
    *address = memory->memory.allocate(bytes, text_of(name));
  });
}

warpmat_status warpmat_buffer_free(warpmat_device_memory* memory, uint64_t address, warpmat_error* error) {
  return done(error, [&] {
    need(memory, "the memory");
    memory->memory.free(address);
  });
}

uint8_t* warpmat_buffer_bytes(warpmat_device_memory* memory, uint64_t address, uint64_t bytes, warpmat_error* error) {
  return made(error, [&] {
    need(memory, "the memory");
    return memory->memory.bytes(address, bytes).data();
  });
}

warpmat_status warpmat_variable_address(const warpmat_kernel* kernel, warpmat_device_memory* memory, const char* name, uint64_t* address,
                                        warpmat_error* error) {
  return done(error, [&] {
    need(kernel, "the kernel");
    need(memory, "the memory");
    need(name, "the name");
    need(address, "address");
    *address = variable_address(kernel->kernel, memory->memory, name);
  });
}

// ---- Launching

namespace {

void tell_warnings(const warpmat_launch_config& config, const LaunchResult& result) {
  for (const std::string& warning : result.warnings) config.warn(config.user, warning.c_str());
  for (const std::string& place : result.absent_lanes) {
    const std::string text = fmt::format("{} reads lanes that take no part, which PTX leaves undefined; they gave 0, as on sm_90", place);
    config.warn(config.user, text.c_str());
  }
}

}  // namespace

warpmat_status warpmat_launch(const warpmat_kernel* kernel, const warpmat_launch_config* config, warpmat_device_memory* memory,
                              uint64_t* operations, warpmat_error* error) {
  return done(error, [&] {
    need(kernel, "the kernel");
    need(config, "config");
    need(memory, "the memory");
    if (!WARPMAT_HAS_SIZE(config, user)) throw std::invalid_argument("config->size is not that of a warpmat_launch_config");
    LaunchConfig launched{dimensions(config->grid), dimensions(config->block), config->shared_bytes};
    if (WARPMAT_HAS_SIZE(config, cluster)) launched.cluster = dimensions(config->cluster);
    LaunchOptions options = options_of(*config);
    std::vector<std::unique_ptr<CallbackObserver>> observers = observers_of(*config);
    for (const auto& observer : observers) options.observers.push_back(observer.get());
    const LaunchResult result = launch(kernel->kernel, launched, memory->memory, arguments_of(*config), options);
    if (operations != nullptr) *operations = result.operations;
    if (config->print != nullptr && !result.printed.empty()) config->print(config->user, result.printed.c_str(), result.printed.size());
    if (WARPMAT_HAS_SIZE(config, warn) && config->warn != nullptr) tell_warnings(*config, result);
  });
}
