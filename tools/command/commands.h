#pragma once

#include "tools/command_line/command.h"

namespace warpmat {

// The users' subcommands, a file each. Every function adds its subcommand to `app`; its callback does the work and reports a failure by
// throwing an std::exception whose message is one sentence.

void add_banks(Command app);
void add_check(Command app);
void add_cuda(Command app);
void add_debug(Command app);
void add_exec(Command app);
void add_explain(Command app);
void add_identify(Command app);
void add_launch(Command app);
void add_layout(Command app);
void add_list(Command app);
void add_new(Command app);
void add_nvcc(Command app);
void add_run(Command app);
void add_site(Command app);
void add_swizzle(Command app);

}  // namespace warpmat
