#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tools/command_line/command.h"

namespace warpmat {

/// A program to run on the GPU with its launches recorded, and which of them.
struct RecordedProgramOptions {
  std::vector<std::string> words;  ///< the program and its arguments
  std::string kernels;             ///< a regular expression
  std::size_t every = 1, first = 0;
  std::uint64_t limit = std::uint64_t{4} << 30;   ///< bytes of the archive
  std::uint64_t memory = std::uint64_t{1} << 30;  ///< bytes of all allocations of a launch
  bool once = false;                              ///< do not launch twice to find what is not deterministic
};

/// --kernels, --every, --first, --memory, --once; each needs a program.
void add_recording_flags(Command command, RecordedProgramOptions& options);

/// Runs the program with the library that records before the driver, and puts the archive of all its processes at `archive`. Its input and
/// output are those of this process. Returns its exit status. Throws std::runtime_error, NoGpu without a driver.
int record_program(const RecordedProgramOptions& options, const std::filesystem::path& archive);

}  // namespace warpmat
