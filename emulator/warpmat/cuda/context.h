#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include <warpmat/cuda/address_space.h>
#include <warpmat/cuda/device.h>
#include <warpmat/cuda/errors.h>
#include <warpmat/cuda/types.h>
#include <warpmat/launch.h>

namespace warpmat::cuda {

/// What the environment says; `warpmat cuda` sets it from its options.
/// Who decides about the bits that PTX leaves open, for what the options in the program leave.
enum class Assembler : std::uint8_t {
  rule,          ///< warpmat's: the same on every machine
  machine_code,  ///< that in the program, with the help of this machine's ptxas; the rule for kernels without any
  ptxas,         ///< this machine's
};

struct Settings {
  const Target* target = nullptr;                 ///< WARPMAT_CUDA_TARGET, "sm_90a"
  int jobs = 0;                                   ///< WARPMAT_CUDA_JOBS: threads of a launch; 0: one for each core that the process may use
  std::uint64_t schedule = 0;                     ///< WARPMAT_CUDA_SCHEDULE
  Checks checks;                                  ///< WARPMAT_CUDA_CHECK: names separated by commas, all or none
  Undefined undefined = Undefined::trap;          ///< WARPMAT_CUDA_UNDEFINED: trap or hardware
  Assembler assembler = Assembler::machine_code;  ///< WARPMAT_CUDA_ASSEMBLER: rule, code or ptxas
  int processors = 0;                             ///< WARPMAT_CUDA_SMS; 0: the GPU's
  std::string report;                             ///< WARPMAT_CUDA_REPORT: a folder for the record of the launches; empty: none
  std::string save;                               ///< WARPMAT_CUDA_SAVE: a folder that gets a launch.json for each launch; empty: none
  bool every_launch = true;  ///< WARPMAT_CUDA_EVERY_LAUNCH, 0: the record leaves out launches that say nothing new of a kernel
  bool leaks = false;        ///< WARPMAT_CUDA_LEAKS, 1: what is not freed is listed at the end
  bool profile = false;      ///< WARPMAT_CUDA_PROFILE, 1: the record has the profile of each launch
};

/// The state of the one GPU. Calls of the runtime hold `mutex`.
class Context {
 public:
  Context();

  /// Remembers what a kernel did wrong. Programs see it from the next synchronising call on, in every call.
  void set_fault(Error code) { fault_ = code; }
  bool has_fault() const { return fault_ != cudaSuccess; }
  /// The fault if a synchronising call has shown it, else cudaSuccess.
  Error fault_seen() const { return shown_ ? fault_ : cudaSuccess; }
  void show_fault() { shown_ = has_fault(); }

  std::recursive_mutex mutex;
  const Settings settings;
  const Device device;
  AddressSpace space;

 private:
  Error fault_ = cudaSuccess;
  bool shown_ = false;
};

/// The context, made by the first call and never destroyed: programs call the runtime until the end of their destructors. Ends the process
/// with a sentence if the environment has a wrong setting.
Context& context();

/// There is one device. Throws ApiError with cudaErrorInvalidDevice for another.
inline void require_device(int device) {
  require(device == 0, cudaErrorInvalidDevice);
}

/// The code of the exception being handled; what it says goes to standard error, behind the name of the call.
Error handle_exception(const char* call);

/// Whether this thread is inside of a function of the driver, which has a context of its own choice.
bool& in_driver();
/// What a call of the runtime does to the driver: it is initialised, and a thread without a context has the device's primary one.
void bind_primary_context();

/// Runs the body of a call. A `synchronising` one shows the fault of an earlier kernel; others do nothing behind a fault.
template <typename Body>
Error run_call(const char* name, bool synchronising, Body&& body) {
  Context& state = context();
  if (!in_driver()) bind_primary_context();
  const std::lock_guard lock(state.mutex);
  if (synchronising) state.show_fault();
  if (state.fault_seen() != cudaSuccess) return last_error() = state.fault_seen();
  if (state.has_fault()) return cudaSuccess;  // what is enqueued behind a fault never runs
  try {
    body(state);
    return cudaSuccess;
  } catch (...) {
    return last_error() = handle_exception(name);
  }
}

/// A call that waits for the GPU or needs its answer.
template <typename Body>
Error call(const char* name, Body&& body) {
  return run_call(name, true, body);
}

/// A call that enqueues work.
template <typename Body>
Error enqueue(const char* name, Body&& body) {
  return run_call(name, false, body);
}

}  // namespace warpmat::cuda
