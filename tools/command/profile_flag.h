#pragma once

#include <string>
#include <vector>

#include "tools/command_line/command.h"
#include "tools/report/profile_report.h"

namespace warpmat {

// --profile[=FILE] of launch and cuda.

/// Adds --profile, which may be repeated. `values` gets "true" for the table, and names of files; it must outlive the parsing.
void add_profile_flag(Command command, std::vector<std::string>& values);

/// Throws std::runtime_error if a file cannot be written, or has a name that does not say what it is to be.
void check_profile_flag(const std::vector<std::string>& values);

/// Throws std::runtime_error where `word`, in the place of a program, is the name of a profile's file that --profile should have after a =.
void refuse_separate_file(const std::vector<std::string>& values, const std::string& word);

/// Prints the table on standard error and writes the files, as far as `values` asks for them.
void report_profile(const std::vector<std::string>& values, const std::string& command, const std::vector<ProfiledKernel>& kernels);

}  // namespace warpmat
