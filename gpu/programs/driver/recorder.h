#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <regex>
#include <string>
#include <vector>

#include <warpmat/launch.h>

#include "gpu/cuda/driver_api.h"
#include "gpu/programs/archive.h"
#include "gpu/programs/driver/allocations.h"
#include "gpu/programs/driver/modules.h"
#include "gpu/programs/recorded_launch.h"

namespace warpmat::programs {

/// What the environment says; the commands set it from their options.
struct Settings {
  std::string folder;                   ///< WARPMAT_RECORD_FOLDER: where each process writes its archive
  std::optional<std::regex> kernels;    ///< WARPMAT_RECORD_KERNELS: found in the kernel's C++ name; nothing: all
  std::uint64_t every = 1, first = 0;   ///< WARPMAT_RECORD_EVERY, _FIRST: of each kernel's launches; 0: no end
  std::uint64_t most_file_bytes = 0;    ///< WARPMAT_RECORD_LIMIT: of the archive; 0: no limit
  std::uint64_t most_memory_bytes = 0;  ///< WARPMAT_RECORD_MEMORY: of all allocations together; 0: no limit
  bool twice = true;                    ///< WARPMAT_RECORD_TWICE
};

/// A launch as the program asks for it.
struct Request {
  void* function = nullptr;
  LaunchConfig config;
  bool cooperative = false;
  void** arguments = nullptr;        ///< a pointer to each, or
  void** extra = nullptr;            ///< a buffer of all
  std::function<int()> launch = {};  ///< by the driver
};

/// What a process has and does, as the driver's calls tell, and the archive of its launches. The calls hold `mutex`.
class Recorder {
 public:
  Recorder();

  /// Launches, and records the launch or the reason why it is not recorded. Returns the driver's answer.
  int launch(const Request& request);
  /// Counts a launch that is not recorded.
  void skip(const std::string& kernel, const std::string& reason);
  /// Writes the counts of launches that are not recorded.
  void finish();

  std::recursive_mutex mutex;
  Modules modules;
  Allocations allocations;
  std::map<std::array<std::uint8_t, TensorMap::bytes>, TensorMap::Arguments> tensor_maps;  ///< by the driver's encoding
  int captures = 0;                                                                        ///< streams that are being captured

  /// The GPU of the current context, or before there is one the first. Throws std::runtime_error.
  const Target& target();

 private:
  struct Snapshot;
  /// Where a module's code lies in the archive.
  struct StoredCode {
    Content ptx;
    std::optional<Content> machine_code;
  };
  ArchiveWriter& archive();
  const StoredCode& store(const Code& code);
  const Function& function_of(void* handle);
  bool chosen(const std::string& kernel);
  std::string obstacle() const;
  int record(const Request& request, const Function& function, const Kernel& kernel);
  std::vector<Snapshot> snapshots(const Function& function, const Kernel& kernel) const;
  void run_again(const Request& request, std::vector<Snapshot>& memory) const;
  RecordedLaunch described(const Request& request, const Function& function, const Kernel& kernel);
  void write(RecordedLaunch& launch, const std::vector<Snapshot>& memory);

  Settings settings_;
  std::unique_ptr<ArchiveWriter> archive_;
  int process_ = 0;  ///< whose archive it is
  std::map<const Code*, StoredCode> stored_;
  std::uint64_t launches_ = 0;
  std::map<std::string, std::uint64_t> matching_;                         ///< launches of each kernel that --kernels names
  std::map<std::pair<std::string, std::string>, std::uint64_t> skipped_;  ///< by kernel and reason
};

/// The one of this process, made by the first call and never destroyed: programs call the driver until the end of their destructors.
Recorder& recorder();

}  // namespace warpmat::programs
