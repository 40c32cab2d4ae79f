#pragma once

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "gpu/runners/runner.h"

namespace warpmat {

/// No GPU can run the program; the message says why in one sentence. Commands then end with exit status 77, which test drivers call
/// skipped.
class NoGpu : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

inline constexpr int skipped_status = 77;

/// A kernel trapped or did not end. The driver then lets the process use its GPUs no longer; earlier results are intact.
class GpuLost : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The origin of answers.
struct GpuInfo {
  std::string card;                ///< "NVIDIA H200"
  std::string compute_capability;  ///< "9.0"
  std::string driver;              ///< "580.159.04"
  std::string cuda;                ///< of the driver: "13.0"
  std::string assembler;           ///< the driver's: "release 13.0, V13.0.88"
};

/// GPUs of this machine, all of one hardware. Each warp of a run executes on one of them.
class GpuRunner : public Runner {
 public:
  /// The GPUs in use, at least one.
  virtual const std::vector<GpuInfo>& gpus() const = 0;

  /// The GPUs' target with all the features of their architecture: sm_90a.
  virtual const Target& target() const = 0;
};

struct GpuOptions {
  const Target* target = nullptr;       ///< only GPUs with this target's hardware; nullptr: those like the machine's first
  int most = 0;                         ///< use no more GPUs than this; 0: all
  std::chrono::seconds time_limit{60};  ///< for one launch; a kernel that takes longer counts as hung
};

/// Finds the driver and the GPUs. Throws NoGpu.
std::unique_ptr<GpuRunner> open_gpus(const GpuOptions& options = {});

}  // namespace warpmat
