#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <warpmat/cuda/address_space.h>
#include <warpmat/cuda/device.h>
#include <warpmat/cuda/errors.h>
#include <warpmat/cuda/handles.h>
#include <warpmat/cuda/mutex.h>
#include <warpmat/cuda/types.h>
#include <warpmat/launch.h>
#include <warpmat/provenance.h>
#include <warpmat/report/suppressions.h>

namespace warpmat::cuda {

/// Who decides about the bits that PTX leaves open, for what the options in the program leave.
enum class Assembler : std::uint8_t {
  rule,          ///< warpmat's: the same on every machine
  machine_code,  ///< that in the program, with the help of this machine's ptxas; the rule for kernels without any
  ptxas,         ///< this machine's
};

/// What the environment says; `warpmat cuda` sets it from its options.
struct Settings {
  const Target* target = nullptr;                 ///< WARPMAT_CUDA_TARGET, "sm_90a"
  int jobs = 0;                                   ///< WARPMAT_CUDA_JOBS: threads of a launch; 0: one for each core that the process may use
  std::uint64_t schedule = 0;                     ///< WARPMAT_CUDA_SCHEDULE
  Checks checks;                                  ///< WARPMAT_CUDA_CHECK: names separated by commas, all or none
  Timing timing = Timing::latest;                 ///< WARPMAT_CUDA_TIMING: latest or card
  bool failed_calls = false;                      ///< WARPMAT_CUDA_CHECK has memcheck: the record gets the calls that fail
  bool print_suppressions = false;                ///< WARPMAT_CUDA_PRINT_SUPPRESSIONS, 1: behind each report the line that suppresses it
  Undefined undefined = Undefined::trap;          ///< WARPMAT_CUDA_UNDEFINED: trap or hardware
  Assembler assembler = Assembler::machine_code;  ///< WARPMAT_CUDA_ASSEMBLER: rule, code or ptxas
  int processors = 0;                             ///< WARPMAT_CUDA_SMS; 0: the GPU's
  int gpus = 1;                                   ///< WARPMAT_CUDA_GPUS: how many of them, read at the start alone
  std::string report;         ///< WARPMAT_CUDA_REPORT: the record of the launches, a file, or a folder for launches.jsonl; empty: none
  std::string save;           ///< WARPMAT_CUDA_SAVE: a folder that gets a launch.json for each launch; empty: none
  bool every_launch = true;   ///< WARPMAT_CUDA_EVERY_LAUNCH, 0: the record leaves out launches that say nothing new of a kernel
  bool full_names = false;    ///< WARPMAT_CUDA_FULL_NAMES, 1: reports name kernels with their types and parameters
  bool leaks = false;         ///< WARPMAT_CUDA_LEAKS, 1: what is not freed is listed at the end
  bool profile = false;       ///< WARPMAT_CUDA_PROFILE, 1: the record has the profile of each launch
  double launch_seconds = 0;  ///< WARPMAT_CUDA_LAUNCH_SECONDS: a launch that takes longer is a failure; 0: no limit
  std::vector<MatrixProduct> products;  ///< WARPMAT_CUDA_GEMM: what kernels compute; empty: not looked at
};

/// The settings that the environment has now. Throws std::invalid_argument with a sentence for a wrong one.
Settings read_settings();

/// The state of the GPUs, and the owner of all that the program makes of them. Calls of the runtime hold mutex().
class Context {
 public:
  Context();

  /// The state that one file of this folder keeps: made when it is first asked for. Its leave(Context&, Owner) destroys what an owner has.
  template <typename Part>
  Part& part() {
    static const char key = 0;
    for (const auto& each : parts_)
      if (each->key == &key) return static_cast<PartOf<Part>&>(*each).state;
    return static_cast<PartOf<Part>&>(*parts_.emplace_back(std::make_unique<PartOf<Part>>(&key))).state;
  }

  /// Destroys all that an owner has. A primary one has its GPU's limits and the variables of the program's own modules, too.
  Error release(Owner owner);

  /// Takes other settings; modules that are resolved keep their target.
  void configure(const Settings& now);

  /// Remembers what a kernel did wrong. Programs see it from the next synchronising call on, in every call, whichever GPU it is of: so do
  /// two H200.
  void set_fault(Error code) { fault_ = code; }
  /// As a new context would be: memory and modules stay.
  void forget_fault() {
    fault_ = cudaSuccess;
    shown_ = false;
  }
  bool has_fault() const { return fault_ != cudaSuccess; }
  /// The fault if a synchronising call has shown it, else cudaSuccess.
  Error fault_seen() const { return shown_ ? fault_ : cudaSuccess; }
  void show_fault() { shown_ = has_fault(); }

  Settings settings;
  Suppressions suppressions;  ///< WARPMAT_CUDA_SUPPRESSIONS: a file of reports that are not wanted, as it was at the start
  Device device;              ///< of which there are `gpus`
  const int gpus;
  AddressSpace space;

 private:
  struct AnyPart {
    explicit AnyPart(const void* key_) : key(key_) {}
    AnyPart(const AnyPart&) = delete;
    virtual ~AnyPart() = default;
    virtual void leave(Context& context, Owner owner) = 0;
    const void* key;
  };
  template <typename Part>
  struct PartOf : AnyPart {
    using AnyPart::AnyPart;
    void leave(Context& context, Owner owner) override { state.leave(context, owner); }
    Part state;
  };

  std::vector<std::unique_ptr<AnyPart>> parts_;
  Error fault_ = cudaSuccess;
  bool shown_ = false;
};

/// Lists what the program has not freed of what the owner has, if Settings::leaks asks for it.
void list_leaks(Context& context, Owner owner);

/// The context, made by the first call and never destroyed: programs call the runtime until the end of their destructors. Ends the process
/// with a sentence if the environment has a wrong setting.
Context& context();

/// Throws ApiError with cudaErrorInvalidDevice for what is no GPU's number.
void require_device(int device);

/// The code of the exception being handled; what it says goes to standard error, behind the name of the call.
Error handle_exception(const char* call);

/// Whether this thread is inside of a function of the driver, which has a context of its own choice.
bool& in_driver();
/// Whether this thread is inside of a host function that a stream or a graph calls: such functions may not use CUDA.
bool& in_host_function();
/// What a call of the runtime does to the driver: it is initialised, and a thread without a context has the primary one of its GPU.
void bind_primary_context();

/// Runs the body of a call. A `synchronising` one shows the fault of an earlier kernel; others do nothing behind a fault.
template <typename Body>
Error run_call(const char* name, bool synchronising, Body&& body) {
  if (in_host_function()) return last_error() = cudaErrorNotPermitted;
  Context& state = context();
  const std::lock_guard lock(mutex());
  if (!in_driver()) bind_primary_context();
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
