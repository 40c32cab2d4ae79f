#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <warpmat/assembler.h>
#include <warpmat/launch.h>

#include "gpu/programs/archive.h"
#include "gpu/programs/element_type.h"
#include "gpu/programs/recorded_launch.h"

namespace warpmat::programs {

/// An element that differs.
struct ElementDifference {
  std::uint64_t index = 0;  ///< in its buffer
  std::uint64_t gpu = 0, emulator = 0;
};

/// The bytes of a buffer that the launch left different on the GPU and here.
struct BufferDifference {
  std::size_t buffer = 0;  ///< of RecordedLaunch::buffers
  std::string parameter;   ///< "parameter 2", the first that points into it; empty if none does
  ElementType type;        ///< that the parameter suggests
  std::uint64_t bytes = 0, elements = 0;
  std::vector<ElementDifference> first;  ///< some
};

/// What a launch left on the GPU and here. Bytes belong to elements of the type that a parameter suggests: where one byte of an element
/// varies from launch to launch, all of them may.
struct Comparison {
  std::string target;                  ///< that the emulator was
  std::string not_compared;            ///< why nothing was compared; empty if it was
  bool given_up = false;               ///< nothing was compared because CompareOptions::stop asked for that
  bool stopped = false;                ///< nothing was compared because the emulator reports an error of the kernel
  std::uint64_t bytes = 0;             ///< compared
  std::uint64_t different = 0;         ///< of them, in `buffers`
  std::uint64_t nondeterministic = 0;  ///< not compared: two launches on the GPU gave two values
  std::uint64_t order_dependent = 0;   ///< not compared: another order of the warps gives another value here
  std::vector<BufferDifference> buffers;
  std::string
      unsettled;  ///< why a second order of the warps did not tell whether `different` depends on it; empty if it did, or none was needed
  bool same_text = true;
  std::string printed;  ///< by the emulator
  double seconds = 0;
};

struct CompareOptions {
  std::string target;  ///< empty: the one that was recorded
  int jobs = 0;
  std::chrono::seconds most_time{60};  ///< of one launch
  std::function<bool()> stop;          ///< asked several times a second, by any thread: whether to give up the launch; empty: never
};

/// What the machine code that a GPU ran says about the kernel of a launch, whose PTX is `module`; nothing where none is in the archive.
std::optional<AssemblerDecisions> decisions_of(const ArchiveReader& archive, const Module& module, const RecordedLaunch& launch,
                                               const std::string& target);

/// Executes recorded launches and compares every byte of every buffer, bit for bit.
class LaunchComparer {
 public:
  LaunchComparer(const ArchiveReader& archive, CompareOptions options) : archive_(archive), options_(std::move(options)) {}
  virtual ~LaunchComparer() = default;

  /// `target`: of the GPU that was recorded.
  Comparison compare(const RecordedLaunch& launch, const std::string& target);

 protected:
  /// The kernel that is executed.
  virtual Kernel make_kernel(const Module& module, const RecordedLaunch& launch, const std::string& target) const;

 private:
  struct Run {
    std::vector<std::vector<std::uint8_t>> buffers;
    std::string printed;
  };
  const Kernel& kernel(const RecordedLaunch& launch, const std::string& target);
  Run run(const RecordedLaunch& launch, const Kernel& kernel, std::uint64_t schedule) const;
  std::optional<Run> run_otherwise(const RecordedLaunch& launch, const Kernel& kernel, Comparison& comparison) const;
  std::string reason_to_stop() const;
  void compare(const RecordedLaunch& launch, const Kernel& kernel, const Run& run, Comparison& comparison) const;
  void stop_if_asked() const;

  const ArchiveReader& archive_;
  CompareOptions options_;
  std::map<std::vector<Hash>, Module> modules_;
  std::map<std::pair<std::vector<Hash>, std::string>, Kernel> kernels_;
};

}  // namespace warpmat::programs
