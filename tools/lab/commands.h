#pragma once

#include <CLI/CLI.hpp>

namespace warpmat {

// The laboratory's subcommands, a file each, as tools/command/commands.h has the users'. Their names and summaries are rows of
// tools/command_line/lab_commands.h.

void add_coverage(CLI::App& app);
void add_diff(CLI::App& app);
void add_distinguish(CLI::App& app);
void add_evidence(CLI::App& app);
void add_exhaust(CLI::App& app);
void add_fuzz(CLI::App& app);
void add_mutants(CLI::App& app);
void add_record(CLI::App& app);
void add_replay(CLI::App& app);
void add_support(CLI::App& app);

}  // namespace warpmat
