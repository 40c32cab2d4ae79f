#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <warpmat/launch.h>

#include "gpu/programs/archive.h"

namespace warpmat::programs {

// The lines of an archive. Each is an object of JSON whose "line" says which of these structures it is.

/// What ran, and where.
struct RecordedProgram {
  std::string device;  ///< "NVIDIA H200, driver 13.0"
  std::string target;  ///< "sm_90a": of the device
};

/// Memory that a kernel may touch, before and after the launch.
struct RecordedBuffer {
  std::string name;  ///< "cuMemAlloc_3", or of a variable its name in PTX
  bool variable = false;
  std::uint64_t address = 0;
  Content before, after;
  std::optional<Content>
      again;  ///< after other launches from the same memory: in each byte a value that differs from `after`, if there was one
};

/// A tensor map among the bytes of an argument.
struct RecordedMap {
  std::size_t argument = 0, at = 0;
  TensorMap::Arguments map;
};

struct RecordedLaunch {
  std::uint64_t number = 0;  ///< of the program's launches, from 1 on
  std::string kernel;        ///< its name in PTX
  Content ptx;
  std::string assembler_options{};        ///< that lie beside the PTX
  std::optional<Content> machine_code{};  ///< the ELF file that the GPU ran, where the program had one
  LaunchConfig config;                    ///< without `workspace`
  bool cooperative = false;
  std::vector<std::vector<std::uint8_t>> arguments;
  std::vector<RecordedMap> maps;
  std::vector<RecordedBuffer> buffers;
  bool twice = false;                  ///< whether it was launched more than once
  std::optional<std::string> printed;  ///< by the GPU; nothing where the module does not print
  double seconds = 0;                  ///< that the recording took, with the copies of memory
};

/// Launches that were not recorded. A later line of the same process, kernel and reason replaces an earlier one.
struct SkippedLaunches {
  int process = 0;
  std::string kernel, reason;
  std::uint64_t count = 0;
};

std::string to_line(const RecordedProgram& program);
std::string to_line(const RecordedLaunch& launch);
std::string to_line(const SkippedLaunches& launch);

/// One line of an archive: what it is of these.
struct ArchiveLine {
  std::optional<RecordedProgram> program;
  std::optional<RecordedLaunch> launch;
  std::optional<SkippedLaunches> skipped;
};

/// Throws std::runtime_error that says what is wrong.
ArchiveLine parse_line(std::string_view text);

}  // namespace warpmat::programs
