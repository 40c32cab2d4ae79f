#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/command_line/command.h"
#include "tools/report/findings.h"

namespace warpmat {

/// Where a command writes what it found: files for other programs, and how for people.
struct FindingFiles {
  std::string sarif, junit;
  bool full_names = false, print_suppressions = false;
  std::string suppressions;
};

/// Adds --sarif, --junit, --full-names, --suppressions and --print-suppressions. `files` must outlive the parsing.
void add_finding_flags(Command command, FindingFiles& files);

/// Throws std::runtime_error where the files cannot be written, before the work.
void check_finding_files(const FindingFiles& files);

/// Prints the reports to standard error, each once. `ptx` has the places.
void print_reports(const FindingFiles& files, const std::vector<Report>& reports, std::string_view ptx);

/// Writes the files, whole or not at all, and in a job of GitHub prints its commands to standard error. `name` is that of the test. Throws
/// std::runtime_error.
void tell_findings(const FindingFiles& files, const std::string& name, double seconds, const std::vector<Report>& reports);

}  // namespace warpmat
