#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "tools/command_line/command.h"
#include "tools/report/limits.h"

namespace warpmat {

struct CompareArchiveOptions {
  std::string target;      ///< empty: the GPU that was recorded
  std::string keep = ".";  ///< folder for the launch.json of launches that differ
  int jobs = 0;
  int seconds = 60;                             ///< of one launch
  std::uint64_t memory = usual_memory_limit();  ///< bytes that an archive unpacks to; 0: no limit
};

/// --jobs, --seconds, --keep.
void add_comparing_flags(Command command, CompareArchiveOptions& options);

/// Whether the file is an archive of a program's launches, or a pipe, which can be nothing else: recordings are known by their names.
bool holds_launches(const std::filesystem::path& file);

/// Executes an archive's launches in the emulator, compares every byte, and prints what differs, what was not compared and why, and the
/// sums. Throws std::runtime_error where something differs or nothing was compared, Interrupted after a signal.
void compare_archive(const std::filesystem::path& archive, const CompareArchiveOptions& options);

}  // namespace warpmat
