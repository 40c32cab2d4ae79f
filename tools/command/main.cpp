#include <new>

#include "commands.h"
#include "hand_over.h"
#include "tools/command_line/command_line.h"
#include "tools/command_line/lab_commands.h"

namespace {

constexpr warpmat::AddSubcommand commands[] = {
    warpmat::add_run,   warpmat::add_exec, warpmat::add_explain, warpmat::add_launch, warpmat::add_banks, warpmat::add_swizzle,
    warpmat::add_check, warpmat::add_list, warpmat::add_layout,  warpmat::add_site,   warpmat::add_new,
};

/// The laboratory's subcommands as a group of their own in the help.
void add_laboratory(CLI::App& app) {
  for (const warpmat::LabCommand& command : warpmat::lab_commands)
    app.add_subcommand(command.name, command.summary)->group("Subcommands of warpmat-lab, which compares with GPUs");
}

}  // namespace

int main(int argc, char** argv) {
  using warpmat::fail;
  try {
    if (argc > 1 && warpmat::find_lab_command(argv[1]) != nullptr) warpmat::hand_over_to_lab(argv);
    return warpmat::run_command_line(argc, argv, commands, add_laboratory);
  } catch (const std::bad_alloc&) {
    return fail("out of memory", 1);
  } catch (const std::exception& e) {
    return fail(e.what(), 1);
  }
}
