#include <csignal>
#include <new>
#include <string_view>

#include "commands.h"
#include "hand_over.h"
#include "tools/command_line/command_line.h"
#include "tools/command_line/completion.h"
#include "tools/command_line/lab_commands.h"
#include "tools/command_line/man_page.h"
#include "tools/report/limits.h"
#include "tools/report/supervision.h"

namespace {

void add_completion(warpmat::Command app) {
  warpmat::add_completion(app, "warpmat");
}
void add_man(warpmat::Command app) {
  warpmat::add_man(app, "warpmat");
}

constexpr warpmat::AddSubcommand commands[] = {
    warpmat::add_run,   warpmat::add_exec, warpmat::add_explain, warpmat::add_launch, warpmat::add_banks, warpmat::add_swizzle,
    warpmat::add_check, warpmat::add_cuda, warpmat::add_list,    warpmat::add_layout, warpmat::add_site,  warpmat::add_new,
    add_completion,     add_man,
};

/// The laboratory's subcommands as a group of their own in the help.
void add_laboratory(warpmat::Command app) {
  for (const warpmat::LabCommand& command : warpmat::lab_commands)
    app.add_subcommand(command.name, command.summary,
                       "For maintainers, by warpmat-lab: what compares warpmat with GPUs and keeps its tables");
}

/// Whether warpmat-lab is to run the command line: one of its subcommands, or the completion of such a one's arguments.
bool is_for_lab(int argc, char** argv) {
  if (argc > 1 && warpmat::find_lab_command(argv[1]) != nullptr) return true;
  const std::string_view first = argc > 1 ? argv[1] : "";
  return argc > 5 && first == "completion" && warpmat::find_lab_command(argv[4]) != nullptr;  // completion SHELL -- diff WORD...
}

}  // namespace

int main(int argc, char** argv) {
  using warpmat::fail;
  std::signal(SIGXFSZ, SIG_IGN);  // a file beyond the limit of its size is an error in a sentence
  try {
    if (is_for_lab(argc, argv)) warpmat::hand_over_to_lab(argv);
    return warpmat::run_command_line(argc, argv, commands, add_laboratory);
  } catch (const std::bad_alloc& e) {
    return fail(warpmat::out_of_memory(e), 1);
  } catch (const warpmat::Interrupted& e) {
    return fail(e.what(), e.exit_status());
  } catch (const std::exception& e) {
    return fail(e.what(), 1);
  }
}
