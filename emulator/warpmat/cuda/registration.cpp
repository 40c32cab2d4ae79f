// What the code that nvcc adds to a program calls before main: fatbinaries, kernels, variables. Declared in the toolkit's
// crt/host_runtime.h.

#include <warpmat/cuda/registration.h>
#include <warpmat/machine/internals.h>

#include <unistd.h>

#include <chrono>
#include <iterator>
#include <thread>
#include <vector>

#include <fmt/core.h>

#include <warpmat/assembler/decisions_file.h>
#include <warpmat/assembler/ptxas.h>
#include <warpmat/cuda/fatbinary.h>
#include <warpmat/cuda/report.h>
#include <warpmat/diagnostic.h>
#include <warpmat/ir/code.h>
#include <warpmat/ptx/syntax/module.h>

namespace warpmat::cuda {

struct ManagedVariable {
  std::shared_ptr<DeviceModule> module;
  std::string name;
  std::uint64_t bytes = 0;
  void** host_pointer = nullptr;  ///< where the program keeps its address
  bool placed = false;            ///< it has one

  void place(Context& context) {
    const std::uint64_t address = module->place_variable(context, name);
    context.space.share_variable(address, bytes);
    *host_pointer = reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));
    placed = true;
  }
  std::uint64_t address() const { return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(*host_pointer)); }
};

namespace {

using SharedModule = std::shared_ptr<DeviceModule>;

/// What code that nvcc adds has registered, before main() or in a plug-in, and the functions of all modules.
struct Registry {
  std::map<const void*, SharedModule> modules;                               ///< by handle
  std::map<std::pair<const DeviceModule*, std::string>, Function*> by_name;  ///< of each module
  std::map<const void*, std::shared_ptr<Function>> functions;                ///< by handle, their address
  std::map<const void*, Function*> stubs;                                    ///< by host stub
  std::map<const void*, Symbol> symbols;                                     ///< by host shadow
  std::vector<ManagedVariable> managed;

  /// Forgets all of a module but its memory.
  void forget(const DeviceModule& module) {
    const auto is_of_it = [&](const auto& each) { return each.second->module.get() == &module; };
    std::erase_if(stubs, is_of_it);
    std::erase_if(by_name, is_of_it);
    std::erase_if(functions, is_of_it);
    std::erase_if(symbols, [&](const auto& each) { return each.second.module.get() == &module; });
    std::erase_if(managed, [&](const ManagedVariable& each) { return each.module.get() == &module; });
    modules.erase(&module);
  }
};

Registry& registry() {
  return lasting<Registry>();
}

void unload(const SharedModule& module) {
  module->set_unloaded();
  for (int gpu = 0; gpu < context().gpus; ++gpu) {
    const AsOwner as(primary_of(gpu));
    module->forget_variables();
  }
  registry().forget(*module);
}

/// The modules that the program has loaded by itself.
struct LoadedModules {
  struct One {
    SharedModule module;
    Owner owner = no_owner;
  };
  std::map<const void*, One> all;  ///< by handle

  /// The registered ones are the primary contexts'. They stay, with variables as at the start. Managed ones are not those of one of several
  /// GPUs, and keep their values then.
  void leave(Context& context, Owner owner) {
    for (auto it = all.begin(); it != all.end();) {
      const One one = it->second;
      if (one.owner == owner) unload(one.module);
      it = one.owner == owner ? all.erase(it) : std::next(it);
    }
    if (!is_primary(owner)) return;
    std::set<std::uint64_t> kept;
    for (const ManagedVariable& variable : registry().managed)
      if (context.gpus > 1 && variable.placed) kept.insert(variable.address());
    for (const auto& [handle, module] : registry().modules) module->forget_variables(kept);
    for (const auto& [handle, one] : all)
      if (one.owner == no_owner) one.module->forget_variables();
    for (ManagedVariable& variable : registry().managed)
      if (context.gpus == 1 && variable.placed) variable.place(context);
  }
};

SharedModule registered_module(void** handle) {
  const auto found = registry().modules.find(handle);
  return found == registry().modules.end() ? nullptr : found->second;
}

}  // namespace

const Module& DeviceModule::module(Context& context) {
  require(loaded_, cudaErrorInvalidResourceHandle);
  if (module_) return *module_;
  static_cast<void>(context.part<LoadedModules>());  // which forgets the variables
  try {
    code_ = read_code_(*context.settings.target);
  } catch (const FatbinaryError& e) {
    throw ApiError(cudaErrorNoKernelImageForDevice, e.what());
  }
  try {
    module_.emplace(code_.text);
  } catch (const SyntaxError& e) {
    throw ApiError(cudaErrorInvalidPtx, e.what());
  }
  const syntax::Function* const allocates = syntax_of(*module_).find_function("malloc");
  uses_heap_ = allocates != nullptr && !allocates->defined;
  return *module_;
}

/// By the machine code in the program; where there is none of the kernel, by the rule.
std::optional<AssemblerDecisions> DeviceModule::decide(Context& context, const std::string& entry, const KernelOptions& options) {
  const Settings& settings = context.settings;
  try {
    if (settings.assembler == Assembler::ptxas) {
      auto decisions = ask_ptxas(*module_, entry, options);
      if (!decisions) say_once(fmt::format("{}: the rule decides", no_ptxas));
      return decisions;
    }
    if (settings.assembler == Assembler::machine_code)
      for (const std::string& file : code_.machine_code)
        if (auto decisions = read_machine_code(*module_, entry, file, options)) return decisions;
  } catch (const SyntaxError&) {
    throw;
  } catch (const std::runtime_error& e) {
    say_once(fmt::format("{}: the rule decides: {}", entry, e.what()));
  }
  return std::nullopt;
}

const Kernel& DeviceModule::kernel(Context& context, const std::string& entry) {
  const Module& parsed = module(context);
  const auto found = kernels_.find(entry);
  if (found != kernels_.end()) return found->second;
  try {
    KernelOptions options{.target = context.settings.target->name, .assembler_options = code_.options};
    if (auto decisions = decide(context, entry, options))
      options.decisions = &decisions_.insert_or_assign(entry, std::move(*decisions)).first->second;
    return kernels_.emplace(entry, Kernel(parsed, entry, options)).first->second;
  } catch (const SyntaxError& e) {
    throw ApiError(cudaErrorNotSupported, e.what());
  } catch (const std::invalid_argument& e) {
    throw ApiError(cudaErrorInvalidDeviceFunction, e.what());
  }
}

const Kernel& DeviceModule::any_kernel(Context& context) {
  if (!kernels_.empty()) return kernels_.begin()->second;
  std::optional<ApiError> refused;
  for (const std::string& entry : module(context).entries()) {
    try {
      return kernel(context, entry);
    } catch (const ApiError& e) {
      refused = e;
    }
  }
  throw refused ? *refused : ApiError(cudaErrorInvalidSymbol, "the module has no kernel, so its variables have no address");
}

std::uint64_t DeviceModule::variable(Context& context, const std::string& name) {
  share_managed(context);
  return place_variable(context, name);
}

void DeviceModule::share_managed(Context& context) {
  if (context.gpus == 1) return;
  std::map<std::string, std::uint64_t> managed;
  for (ManagedVariable& variable : registry().managed) {
    if (variable.module.get() != this) continue;
    if (!variable.placed) variable.place(context);
    managed.emplace(variable.name, variable.address());
  }
  DeviceMemory& memory = context.space.memory();
  if (!managed.empty() && !Internals::modules(memory).contains(Internals::syntax(*module_)))
    place_variables(any_kernel(context), memory, managed);
}

std::uint64_t DeviceModule::place_variable(Context& context, const std::string& name) {
  const Kernel& some = any_kernel(context);
  try {
    return variable_address(some, context.space.memory(), name);
  } catch (const std::invalid_argument& e) {
    throw ApiError(cudaErrorInvalidSymbol, e.what());
  }
}

std::uint64_t DeviceModule::variable_bytes(Context& context, const std::string& name) {
  for (const code::Variable& variable : program_of(any_kernel(context)).module_variables)
    if (variable.name == name) return variable.bytes;
  throw ApiError(cudaErrorInvalidSymbol);
}

const std::string& DeviceModule::recorded_name(Context& context) {
  static int count = 0;
  if (recorded_name_.empty()) {
    recorded_name_ = fmt::format("{}_{}", getpid(), ++count);
    record_module(context, recorded_name_, code_.text);
  }
  return recorded_name_;
}

void DeviceModule::forget_variables(const std::set<std::uint64_t>& kept) {
  if (!module_) return;
  AddressSpace& space = context().space;
  const auto placed = Internals::modules(space.memory()).extract(Internals::syntax(*module_));
  if (placed.empty()) return;
  for (const std::uint64_t address : placed.mapped())
    if (!kept.contains(address)) space.release_variable(address);
}

DeviceModule* add_module(std::shared_ptr<DeviceModule> module, Owner owner) {
  DeviceModule* const handle = module.get();
  context().part<LoadedModules>().all[handle] = {std::move(module), owner};
  return handle;
}

Owner owner_of_module(const DeviceModule& module) {
  const auto& all = context().part<LoadedModules>().all;
  const auto found = all.find(&module);
  return found == all.end() || found->second.owner == no_owner ? current_owner() : found->second.owner;
}

DeviceModule& module_of(const DeviceModule* handle) {
  const auto& all = context().part<LoadedModules>().all;
  const auto found = all.find(handle);
  require(found != all.end(), cudaErrorInvalidResourceHandle);
  return *found->second.module;
}

void unload_module(Context& context, const DeviceModule* handle) {
  const SharedModule module = module_of(handle).shared_from_this();
  context.part<LoadedModules>().all.erase(handle);
  unload(module);
}

std::string DeviceModule::recorded_decisions(Context& context, const std::string& entry) {
  const AssemblerDecisions* const decided = decisions(entry);
  if (decided == nullptr) return "";
  const auto [name, is_new] = recorded_decisions_.try_emplace(entry);
  if (is_new) {
    name->second = fmt::format("{}.{}", recorded_name(context), recorded_decisions_.size());
    record_decisions(context, name->second, *decided);
  }
  return name->second;
}

Function& function_in(DeviceModule& module, const std::string& name) {
  Registry& all = registry();
  const std::lock_guard lock(mutex());
  Function*& known = all.by_name[{&module, name}];
  if (known != nullptr) return *known;
  std::shared_ptr<Function> made = share_fresh<Function>(Function{.module = module.shared_from_this(), .name = name});
  known = made.get();
  all.functions[known] = std::move(made);
  return *known;
}

Function& function_of(const void* handle) {
  const Registry& all = registry();
  const std::lock_guard lock(mutex());
  if (const auto found = all.stubs.find(handle); found != all.stubs.end()) return *found->second;
  const auto found = all.functions.find(handle);
  require(found != all.functions.end(), handle == nullptr ? cudaErrorInvalidDeviceFunction : cudaErrorInvalidResourceHandle);
  return *found->second;
}

std::shared_ptr<const Function> share(const Function& function) {
  const std::lock_guard lock(mutex());
  return registry().functions.at(&function);
}

void* name_of(const Function& function) {
  const Registry& all = registry();
  const std::lock_guard lock(mutex());
  for (const auto& [stub, of_stub] : all.stubs)
    if (of_stub == &function) return const_cast<void*>(stub);
  return const_cast<Function*>(&function);
}

const Symbol& symbol_of(const void* shadow) {
  const Registry& all = registry();
  const std::lock_guard lock(mutex());
  const auto found = all.symbols.find(shadow);
  require(found != all.symbols.end(), cudaErrorInvalidSymbol);
  return found->second;
}

WARPMAT_CUDA_API void** __cudaRegisterFatBinary(void* wrapper) {
  const std::lock_guard lock(mutex());
  SharedModule made = share_fresh<DeviceModule>([wrapper](const Target& target) { return wrapper_code(wrapper, target); });
  void* const handle = made.get();
  registry().modules[handle] = std::move(made);
  return static_cast<void**>(handle);
}

WARPMAT_CUDA_API void __cudaRegisterFatBinaryEnd(void**) {}

/// A plug-in that is closed takes its code with it. At the end of the program destructors may still ask for the module: they get errors, as
/// on a GPU. That end waits a second, no longer, for the launch of another thread, which may never end.
WARPMAT_CUDA_API void __cudaUnregisterFatBinary(void** handle) {
  std::unique_lock lock(mutex(), std::try_to_lock);
  for (int i = 0; i < 100 && !lock; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    static_cast<void>(lock.try_lock());
  }
  if (!lock) return;
  if (const SharedModule module = registered_module(handle)) unload(module);
}

WARPMAT_CUDA_API void __cudaRegisterFunction(void** handle, const char* stub, char*, const char* name, int, void*, void*, void*, void*,
                                             int*) {
  const std::lock_guard lock(mutex());
  const SharedModule module = registered_module(handle);
  if (module != nullptr && name != nullptr) registry().stubs.insert_or_assign(stub, &function_in(*module, name));
}

WARPMAT_CUDA_API void __cudaRegisterVar(void** handle, char* shadow, char*, const char* name, int, std::size_t bytes, int, int) {
  const std::lock_guard lock(mutex());
  const SharedModule module = registered_module(handle);
  if (module != nullptr && name != nullptr)
    registry().symbols.insert_or_assign(shadow, Symbol{.module = module, .name = name, .bytes = bytes});
}

WARPMAT_CUDA_API void __cudaRegisterManagedVar(void** handle, void** pointer, char*, const char* name, int, std::size_t bytes, int, int) {
  const std::lock_guard lock(mutex());
  const SharedModule module = registered_module(handle);
  if (module == nullptr || pointer == nullptr || name == nullptr) return;
  registry().managed.push_back({.module = module, .name = name, .bytes = bytes, .host_pointer = pointer});
  registry().symbols.insert_or_assign(pointer, Symbol{.module = module, .name = name, .bytes = bytes});
}

/// Called before the host uses a managed variable: gives those of the module their addresses.
WARPMAT_CUDA_API char __cudaInitModule(void** handle) {
  const Error error = call("__cudaInitModule", [&](Context& context) {
    const SharedModule module = registered_module(handle);
    for (ManagedVariable& variable : registry().managed)
      if (variable.module == module && !variable.placed) variable.place(context);
  });
  return static_cast<char>(error == cudaSuccess);
}

}  // namespace warpmat::cuda
