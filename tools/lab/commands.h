#pragma once

#include "tools/command_line/command.h"

namespace warpmat {

// The subcommands of warpmat-lab, a file each. Their names and summaries are rows of tools/command_line/handed_commands.h.

void add_constants(Command app);
void add_coverage(Command app);
void add_device(Command app);
void add_distinguish(Command app);
void add_exhaust(Command app);
void add_fuzz(Command app);
void add_mutants(Command app);
void add_questions(Command app);

}  // namespace warpmat
