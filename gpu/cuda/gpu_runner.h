#pragma once

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "gpu/runners/runner.h"

namespace warpmat {

/// There is no GPU that could run the program, and why: one sentence. Commands end with exit status 77 then, which test drivers call
/// skipped.
class NoGpu : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

inline constexpr int skipped_status = 77;

/// A kernel was trapped or did not end. The driver lets the process use its GPUs no longer; what was computed before is intact.
class GpuLost : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Where answers come from.
struct GpuInfo {
  std::string card;                ///< "NVIDIA H200"
  std::string compute_capability;  ///< "9.0"
  std::string driver;              ///< "580.159.04"
  std::string cuda;                ///< of the driver: "13.0"
  std::string assembler;           ///< the driver's: "release 13.0, V13.0.88"
};

/// GPUs of this machine, all of one hardware. Each warp of a run goes to one of them.
class GpuRunner : public Runner {
 public:
  /// The GPUs in use, at least one.
  virtual const std::vector<GpuInfo>& gpus() const = 0;

  /// What the GPUs are, with all the features of their architecture: sm_90a.
  virtual const Target& target() const = 0;
};

struct GpuOptions {
  const Target* target = nullptr;       ///< only GPUs that are this target's hardware; nullptr: those like the machine's first
  int most = 0;                         ///< use no more GPUs than this; 0: all
  std::chrono::seconds time_limit{60};  ///< for one launch, after which a kernel counts as hung
};

/// Finds the driver and the GPUs. Throws NoGpu.
std::unique_ptr<GpuRunner> open_gpus(const GpuOptions& options = {});

}  // namespace warpmat
