#pragma once

#include <CLI/CLI.hpp>

namespace warpmat {

// The users' subcommands, a file each. Every function adds its subcommand to `app`; its callback does the work and reports a failure by
// throwing an std::exception whose message is one sentence.

void add_banks(CLI::App& app);
void add_check(CLI::App& app);
void add_cuda(CLI::App& app);
void add_exec(CLI::App& app);
void add_explain(CLI::App& app);
void add_launch(CLI::App& app);
void add_layout(CLI::App& app);
void add_list(CLI::App& app);
void add_new(CLI::App& app);
void add_run(CLI::App& app);
void add_site(CLI::App& app);
void add_swizzle(CLI::App& app);

}  // namespace warpmat
