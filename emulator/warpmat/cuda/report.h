#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include <warpmat/cuda/registration.h>
#include <warpmat/profile/profile.h>

namespace warpmat::cuda {

/// What ran, for the record in the folder Settings::report: a line of JSON for each launch in launches.jsonl (Settings::every_launch), also
/// for those that were refused, and the PTX of each module.
struct LaunchRecord {
  const LaunchConfig* config = nullptr;
  double seconds = 0;
  LaunchResult result = {};
  Error fault = cudaSuccess;
  std::string trap = {};  ///< the text of the trap, if there was one
  std::optional<Profile> profile = {};
};

/// The three sizes, as files have them.
inline std::array<std::uint32_t, 3> sizes(const Dim3& size) {
  return {size.x, size.y, size.z};
}

/// Appends the record, if one is kept.
void record_launch(Context& context, const Function& function, const LaunchRecord& record);

/// The same of a launch whose kernel warpmat does not execute, for `reason`.
void record_refusal(Context& context, const Function& function, const std::string& reason);

}  // namespace warpmat::cuda
