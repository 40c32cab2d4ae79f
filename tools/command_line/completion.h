#pragma once

#include <string>
#include <vector>

#include "tools/command_line/command.h"

namespace warpmat {

/// The possible completions of the word at the cursor.
struct Candidate {
  std::string word;
  std::string what;  ///< the description that --help has of it; may be empty
};

/// The candidates for the last of `words`, which follow the command's name: subcommands, options, or values of an option. None where a
/// file's name belongs, or any text.
std::vector<Candidate> complete(Command app, const std::vector<std::string>& words);

/// The script that makes `shell` (bash, zsh or fish) ask the command `name` for candidates.
std::string completion_script(const std::string& shell, const std::string& name);

/// Adds the subcommand `completion`, which prints the script for the executable `name` and answers it.
void add_completion(Command app, const std::string& name);

}  // namespace warpmat
