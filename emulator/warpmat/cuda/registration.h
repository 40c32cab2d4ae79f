#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include <warpmat/assembler.h>
#include <warpmat/cuda/context.h>
#include <warpmat/cuda/fatbinary.h>
#include <warpmat/launch.h>

namespace warpmat::cuda {

struct ManagedVariable;

/// Device code of the program. Its PTX is parsed when it is first used, each kernel resolved once.
class DeviceModule : public std::enable_shared_from_this<DeviceModule> {
 public:
  /// `code` gives the code for a target, or throws FatbinaryError.
  explicit DeviceModule(std::function<DeviceCode(const Target&)> code) : read_code_(std::move(code)) {}

  /// The parsed PTX. Throws ApiError: cudaErrorNoKernelImageForDevice, cudaErrorInvalidPtx.
  const Module& module(Context& context);

  /// Throws ApiError: cudaErrorNoKernelImageForDevice, cudaErrorInvalidPtx, cudaErrorNotSupported (what warpmat does not execute).
  const Kernel& kernel(Context& context, const std::string& entry);
  /// The address of a .global or .const variable on the current GPU. Throws ApiError with cudaErrorInvalidSymbol.
  std::uint64_t variable(Context& context, const std::string& name);
  /// The bytes of that variable.
  std::uint64_t variable_bytes(Context& context, const std::string& name);
  /// False once the program has unloaded it: what still holds it, such as a node of a graph, runs nothing of it then.
  bool is_loaded() const { return loaded_; }
  void set_unloaded() { loaded_ = false; }
  /// Before kernels run on the current GPU: gives it the managed variables, which all GPUs share.
  void share_managed(Context& context);
  /// Frees its variables on the current GPU, but those at the addresses `kept`. Those of a module that stays are made anew, with their
  /// initial values, when they are next used.
  void forget_variables(const std::set<std::uint64_t>& kept = {});
  /// Whether its kernels may call malloc(), which gives the heap its size when one of them is launched, whichever it is (measured on an
  /// H200). False until the module is parsed, which its first launch does before it asks.
  bool uses_heap() const { return uses_heap_; }
  /// Its PTX. Throws the same.
  const std::string& text(Context& context) { return static_cast<void>(module(context)), code_.text; }
  /// The options of ptxas that are beside its PTX.
  const std::string& assembler_options() const { return code_.options; }
  /// What decided about the kernel; null where the rule does.
  const AssemblerDecisions* decisions(const std::string& entry) const {
    const auto found = decisions_.find(entry);
    return found == decisions_.end() ? nullptr : &found->second;
  }
  /// Its name in the record, which gets its PTX at the first call.
  const std::string& recorded_name(Context& context);
  /// The name in the record of what decided about the kernel, which the record gets at the first call; empty where the rule did.
  std::string recorded_decisions(Context& context, const std::string& entry);
  /// Whether a launch of that kernel is in the record.
  bool is_recorded(const std::string& entry) const { return recorded_.contains(entry); }
  void set_recorded(const std::string& entry) { recorded_.insert(entry); }

 private:
  friend struct ManagedVariable;

  const Kernel& any_kernel(Context& context);
  std::uint64_t place_variable(Context& context, const std::string& name);
  std::optional<AssemblerDecisions> decide(Context& context, const std::string& entry, const KernelOptions& options);

  std::function<DeviceCode(const Target&)> read_code_;
  DeviceCode code_;
  std::string recorded_name_;
  std::optional<Module> module_;
  bool uses_heap_ = false, loaded_ = true;
  std::map<std::string, Kernel> kernels_;
  std::map<std::string, AssemblerDecisions> decisions_;  ///< of kernels about which not the rule decides
  std::map<std::string, std::string> recorded_decisions_;
  std::set<std::string> recorded_;
};

/// A kernel as the program names it: by the address of its host stub, or by a pointer to this as cudaKernel_t and cudaFunction_t.
struct Function {
  std::shared_ptr<DeviceModule> module;
  std::string name;
  struct OfGpu {                          ///< cudaFuncSetAttribute
    int dynamic_shared_bytes = 48 << 10;  ///< at most
    bool non_portable_cluster = false;
    friend bool operator==(const OfGpu&, const OfGpu&) = default;
  };
  std::array<OfGpu, most_gpus> of_gpu = {};

  OfGpu& on_gpu() { return of_gpu[static_cast<std::size_t>(current_gpu())]; }
  const OfGpu& on_gpu() const { return of_gpu[static_cast<std::size_t>(current_gpu())]; }
};

/// A variable as the program names it: by the address of its host shadow.
struct Symbol {
  std::shared_ptr<DeviceModule> module;
  std::string name;
  std::uint64_t bytes = 0;
};

/// Makes a module one of the program's. Its handle is its address. Without an owner its kernels run in any context.
DeviceModule* add_module(std::shared_ptr<DeviceModule> module, Owner owner);
/// The context whose kernels and variables are those of the module; without an owner the current one.
Owner owner_of_module(const DeviceModule& module);
/// Throws ApiError with cudaErrorInvalidResourceHandle for what no module is, or no more.
DeviceModule& module_of(const DeviceModule* handle);
/// Unloads it: its functions are no handles any more, its variables are freed. Throws the same.
void unload_module(Context& context, const DeviceModule* handle);

/// The function that cuModuleGetFunction gives for a kernel of a module, always the same.
Function& function_in(DeviceModule& module, const std::string& name);

/// The function of a host stub or of a handle. Throws ApiError with cudaErrorInvalidDeviceFunction.
Function& function_of(const void* handle);
/// An owner of the function, for what outlives the call.
std::shared_ptr<const Function> share(const Function& function);
/// How a program of the runtime names the function: its host stub, or where it has none, its handle.
void* name_of(const Function& function);
/// Throws ApiError with cudaErrorInvalidSymbol.
const Symbol& symbol_of(const void* shadow);

}  // namespace warpmat::cuda
