// What the code that nvcc adds to a program calls before main: fatbinaries, kernels, variables. Declared in the toolkit's
// crt/host_runtime.h.

#include <warpmat/cuda/registration.h>
#include <warpmat/machine/internals.h>

#include <unistd.h>

#include <cstdio>
#include <set>
#include <vector>

#include <fmt/core.h>

#include <warpmat/assembler/decisions_file.h>
#include <warpmat/cuda/fatbinary.h>
#include <warpmat/diagnostic.h>
#include <warpmat/ptx/program/code.h>
#include <warpmat/ptx/syntax/module.h>

namespace warpmat::cuda {
namespace {

struct ManagedVariable {
  DeviceModule* module = nullptr;
  std::string name;
  std::uint64_t bytes = 0;
  void** host_pointer = nullptr;  ///< where the program keeps its address
};

/// All that the program has registered.
struct Registry {
  std::mutex mutex;
  std::map<std::pair<DeviceModule*, std::string>, Function> functions;  ///< their addresses are the handles
  std::map<const void*, Function*> stubs;                               ///< by host stub
  std::set<const void*> handles;                                        ///< of all functions
  std::map<const void*, Symbol> symbols;                                ///< by host shadow
  std::vector<ManagedVariable> managed_waiting;                         ///< without an address yet
};

Registry& registry() {
  static auto* const made = new Registry;
  return *made;
}

void place(Context& context, const ManagedVariable& variable) {
  const std::uint64_t address = variable.module->variable(context, variable.name);
  context.space.share_variable(address, variable.bytes);
  *variable.host_pointer = reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));
}

DeviceModule* module_of(void** handle) {
  return reinterpret_cast<DeviceModule*>(handle);
}

}  // namespace

const Module& DeviceModule::module(Context& context) {
  if (module_) return *module_;
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
      if (!decisions) say_once("no ptxas in PATH, CUDA_HOME, CUDA_PATH or /usr/local/cuda: the rule decides");
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

const std::string& DeviceModule::file(Context& context) {
  static int count = 0;
  if (!file_.empty()) return file_;
  file_ = fmt::format("module_{}_{}.ptx", getpid(), ++count);
  const std::string path = context.settings.report + "/" + file_;
  std::FILE* const out = std::fopen(path.c_str(), "w");
  if (out == nullptr || std::fwrite(code_.text.data(), 1, code_.text.size(), out) != code_.text.size()) say_once("cannot write " + path);
  if (out != nullptr) std::fclose(out);
  return file_;
}

std::string DeviceModule::decisions_file(Context& context, const std::string& entry) {
  const auto decisions = decisions_.find(entry);
  if (decisions == decisions_.end()) return "";
  const auto [file, is_new] = decisions_files_.try_emplace(entry);
  if (is_new) {
    file->second = fmt::format("{}.{}", this->file(context), decisions_files_.size());
    write_decisions(context.settings.report + "/" + file->second, decisions->second);
  }
  return file->second;
}

Function& function_in(DeviceModule& module, const std::string& name) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  Function& function = all.functions.try_emplace({&module, name}, Function{.module = &module, .name = name}).first->second;
  all.handles.insert(&function);
  return function;
}

Function& function_of(const void* handle) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  if (const auto found = all.stubs.find(handle); found != all.stubs.end()) return *found->second;
  require(all.handles.contains(handle), handle == nullptr ? cudaErrorInvalidDeviceFunction : cudaErrorInvalidResourceHandle);
  return *static_cast<Function*>(const_cast<void*>(handle));
}

void* name_of(const Function& function) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  for (const auto& [stub, of_stub] : all.stubs)
    if (of_stub == &function) return const_cast<void*>(stub);
  return const_cast<Function*>(&function);
}

const Symbol& symbol_of(const void* shadow) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  const auto found = all.symbols.find(shadow);
  require(found != all.symbols.end(), cudaErrorInvalidSymbol);
  return found->second;
}

WARPMAT_CUDA_API void** __cudaRegisterFatBinary(void* wrapper) {
  return reinterpret_cast<void**>(new DeviceModule([wrapper](const Target& target) { return wrapper_code(wrapper, target); }));
}

WARPMAT_CUDA_API void __cudaRegisterFatBinaryEnd(void**) {}

/// Other destructors may still use the module: it is kept.
WARPMAT_CUDA_API void __cudaUnregisterFatBinary(void**) {}

WARPMAT_CUDA_API void __cudaRegisterFunction(void** module, const char* stub, char*, const char* name, int, void*, void*, void*, void*,
                                             int*) {
  Function& function = function_in(*module_of(module), name);
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  all.stubs.insert_or_assign(stub, &function);
}

WARPMAT_CUDA_API void __cudaRegisterVar(void** module, char* shadow, char*, const char* name, int, std::size_t bytes, int, int) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  all.symbols.insert_or_assign(shadow, Symbol{.module = module_of(module), .name = name, .bytes = bytes});
}

WARPMAT_CUDA_API void __cudaRegisterManagedVar(void** module, void** pointer, char*, const char* name, int, std::size_t bytes, int, int) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  all.managed_waiting.push_back({.module = module_of(module), .name = name, .bytes = bytes, .host_pointer = pointer});
  all.symbols.insert_or_assign(pointer, Symbol{.module = module_of(module), .name = name, .bytes = bytes});
}

/// Called before the host uses a managed variable: gives those of the module their addresses.
WARPMAT_CUDA_API char __cudaInitModule(void** module) {
  Registry& all = registry();
  std::vector<ManagedVariable> mine;
  {
    const std::lock_guard lock(all.mutex);
    std::erase_if(all.managed_waiting, [&](const ManagedVariable& variable) {
      if (variable.module != module_of(module)) return false;
      mine.push_back(variable);
      return true;
    });
  }
  const Error error = call("__cudaInitModule", [&](Context& context) {
    for (const ManagedVariable& variable : mine) place(context, variable);
  });
  return static_cast<char>(error == cudaSuccess);
}

}  // namespace warpmat::cuda
