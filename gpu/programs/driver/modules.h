#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <warpmat/cuda/fatbinary.h>
#include <warpmat/forms.h>
#include <warpmat/launch.h>

namespace warpmat::programs {

/// The PTX of an image that the program gave the driver, parsed at its first launch.
class Code {
 public:
  /// `image`: what cuModuleLoadData takes: a fatbinary, its wrapper, PTX, or machine code. Its bytes are needed during this call alone.
  Code(const void* image, const Target& target);
  /// An image that is not known, and why.
  explicit Code(std::string reason) : reason_(std::move(reason)) {}

  const std::string& ptx() const { return code_.text; }
  /// Of ptxas; those that lie beside the PTX.
  const std::string& assembler_options() const { return code_.options; }
  /// The ELF file that the driver runs; null where it assembles the PTX.
  const std::string* machine_code() const { return code_.machine_code.empty() ? nullptr : &code_.machine_code.front(); }
  /// Whether its kernels may print.
  bool prints() const { return ptx().find("vprintf") != std::string::npos; }
  /// The kernel for `target`, resolved once. Throws std::runtime_error with the reason why its launches cannot be compared.
  const Kernel& kernel(const std::string& entry, const Target& target);

 private:
  cuda::DeviceCode code_;
  std::string reason_;
  std::optional<Module> module_;
  std::map<std::string, Kernel> kernels_;
  std::map<std::string, std::string> refused_;
};

/// A kernel as the program names it.
struct Function {
  std::shared_ptr<Code> code;
  std::string name;
  void* module = nullptr;   ///< CUmodule, or null
  void* library = nullptr;  ///< CUlibrary, or null
};

/// What the program has loaded. Handles are those of the driver; modules and libraries, functions and kernels have one map each, as the
/// driver takes a CUkernel for a CUfunction.
struct Modules {
  std::map<void*, std::shared_ptr<Code>> code;
  std::map<void*, Function> functions;

  void add_function(void* handle, void* owner, bool library, const char* name);
  void forget(void* owner);
};

}  // namespace warpmat::programs
