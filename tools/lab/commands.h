#pragma once

#include "tools/command_line/command.h"

namespace warpmat {

// The laboratory's subcommands, a file each, as tools/command/commands.h has the users'. Their names and summaries are rows of
// tools/command_line/lab_commands.h.

void add_coverage(Command app);
void add_diff(Command app);
void add_distinguish(Command app);
void add_evidence(Command app);
void add_exhaust(Command app);
void add_fuzz(Command app);
void add_mutants(Command app);
void add_record(Command app);
void add_replay(Command app);
void add_support(Command app);

}  // namespace warpmat
