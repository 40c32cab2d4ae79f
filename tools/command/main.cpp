#include <csignal>
#include <new>
#include <string_view>

#include "commands.h"
#include "hand_over.h"
#include "tools/command_line/command_line.h"
#include "tools/command_line/completion.h"
#include "tools/command_line/handed_commands.h"
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
    warpmat::add_run,
    warpmat::add_exec,
    warpmat::add_explain,
    warpmat::add_launch,
    warpmat::add_debug,
    warpmat::add_banks,
    warpmat::add_swizzle,
    warpmat::add_check,
    warpmat::add_cuda,
    warpmat::add_list,
    warpmat::add_layout,
    warpmat::add_site,
    warpmat::add_new,
    warpmat::add_nvcc,
    warpmat::add_identify,
    add_completion,
    add_man,
};

/// The subcommands of warpmat-gpu as a group of their own in the help.
void add_gpu(warpmat::Command app) {
  for (const warpmat::HandedCommand& command : warpmat::gpu_commands)
    app.add_subcommand(command.name, command.summary, "By warpmat-gpu: what compares warpmat with GPUs and says how its bits are known");
}

/// The program that is to run the command line, because it has the subcommand, or completes the arguments of one; else null.
const warpmat::HandingProgram* find_program_of(int argc, char** argv) {
  const std::string_view first = argc > 1 ? argv[1] : "";
  if (first == "completion" && argc > 5) return warpmat::find_handing_program(argv[4]);  // completion SHELL -- diff WORD...
  return warpmat::find_handing_program(first);
}

/// gdb's spelling of an option: words of one dash and several letters are several options elsewhere.
void accept_ex(int argc, char** argv) {
  static char spelling[] = "--ex";
  if (argc < 2 || std::string_view(argv[1]) != "debug") return;
  for (int i = 2; i < argc && std::string_view(argv[i]) != "cuda"; ++i)
    if (std::string_view(argv[i]) == "-ex") argv[i] = spelling;
}

}  // namespace

int main(int argc, char** argv) {
  using warpmat::fail;
  accept_ex(argc, argv);
  std::signal(SIGXFSZ, SIG_IGN);  // a file beyond the limit of its size is an error in a sentence
  try {
    if (const warpmat::HandingProgram* const program = find_program_of(argc, argv)) warpmat::hand_over(*program, argv);
    return warpmat::run_command_line(argc, argv, commands, add_gpu);
  } catch (const std::bad_alloc& e) {
    return fail(warpmat::out_of_memory(e), 1);
  } catch (const warpmat::Interrupted& e) {
    return fail(e.what(), e.exit_status());
  } catch (const std::exception& e) {
    return fail(e.what(), 1);
  }
}
