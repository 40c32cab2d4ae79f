#pragma once

#include <string>
#include <vector>

#include "tools/command_line/command.h"
#include "tools/report/findings.h"

namespace warpmat {

/// The files that a command writes what it found to, for other programs.
struct FindingFiles {
  std::string sarif, junit;
};

/// Adds --sarif and --junit. `files` must outlive the parsing.
void add_finding_flags(Command command, FindingFiles& files);

/// Throws std::runtime_error where the files cannot be written, before the work.
void check_finding_files(const FindingFiles& files);

/// Writes the files, whole or not at all, and in a job of GitHub prints its commands to standard error. `name` is that of the test. Throws
/// std::runtime_error.
void tell_findings(const FindingFiles& files, const std::string& name, double seconds, const std::vector<Finding>& findings);

}  // namespace warpmat
