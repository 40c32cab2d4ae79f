#pragma once

#include "tools/command_line/command.h"

namespace warpmat {

// The subcommands of warpmat-gpu, a file each. Their names and summaries are rows of tools/command_line/handed_commands.h.

void add_diff(Command app);
void add_evidence(Command app);
void add_merge(Command app);
void add_record(Command app);
void add_replay(Command app);
void add_support(Command app);

}  // namespace warpmat
