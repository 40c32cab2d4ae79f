#pragma once

#include <span>
#include <string>

#include "tools/command_line/command.h"

namespace warpmat {

/// Adds one subcommand to the application. Its callback does the work and reports a failure by an std::exception whose message is one
/// sentence.
using AddSubcommand = void (*)(Command);

/// Writes "warpmat: error: MESSAGE" to standard error, with the lines that the message has, and returns `status`.
int fail(std::string message, int status);

/// Parses the command line and runs the subcommand that it names. Returns the exit status. Usage errors are reported here; exceptions of a
/// subcommand pass through. `add_to_help` may add to the application what only its help shows, or be null.
int run_command_line(int argc, char** argv, std::span<const AddSubcommand> subcommands, AddSubcommand add_to_help = nullptr);

}  // namespace warpmat
