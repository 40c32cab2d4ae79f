#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include <warpmat/cuda/registration.h>
#include <warpmat/profile/profile.h>

namespace warpmat::cuda {

// The record, Settings::report: a file of lines of JSON, to which several processes append. A process that cannot append says so and ends.

/// What ran: one line for each launch (Settings::every_launch).
struct LaunchRecord {
  const LaunchConfig* config = nullptr;
  bool begun = false;  ///< record_begin() has told of it
  double seconds = 0;
  LaunchResult result = {};
  Error fault = cudaSuccess;
  std::string trap = {};           ///< the text of what ended it, if something did
  std::optional<Trap> error = {};  ///< the same, if it was a trap
  std::optional<Profile> profile = {};
};

/// Whether the record gets a line of the launch, if a record is kept.
inline bool tells(const LaunchRecord& record) {
  return record.begun || record.fault != cudaSuccess || record.profile || !record.result.absent_lanes.empty() ||
         !record.result.warnings.empty();
}

/// The three sizes, as files have them.
inline std::array<std::uint32_t, 3> sizes(const Dim3& size) {
  return {size.x, size.y, size.z};
}

/// Appends that a launch begins, if a record is kept and has it. A program that ends before the launch does leaves this line alone. Returns
/// whether the launch has such a line.
bool record_begin(Context& context, const Function& function);

/// Appends what ran.
void record_launch(Context& context, const Function& function, const LaunchRecord& record);

/// The PTX of the launches that name this module, before the first of them.
void record_module(const Context& context, const std::string& name, const std::string& ptx);

/// What decided about the kernel of the launches that name these decisions, before the first of them.
void record_decisions(const Context& context, const std::string& name, const AssemblerDecisions& decisions);

/// A launch whose kernel warpmat does not execute, for `reason`.
void record_refusal(const Context& context, const Function& function, const std::string& reason);

/// That a function of a library has left work, once for each function: how its bits are known, and why.
void record_library(Context& context, const std::string& call, const std::string& label, const std::string& source);

/// That the `call` of the program that runs now failed, once for each place and error, if Settings::failed_calls. Returns whether the
/// record has it, whose reader tells it.
bool record_failed_call(Context& context, const std::string& call, Error code, const std::string& why);

/// A launch that save_launch() could not write, for `reason`.
void record_unsaved(const Context& context, const std::string& reason);

/// That the process has also loaded the driver in the file `path`, in the record `report`: kernels that it gets are not executed here.
void record_other_driver(const std::string& report, const std::string& path);

}  // namespace warpmat::cuda
