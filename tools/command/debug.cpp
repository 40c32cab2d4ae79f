#include <fmt/core.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <unistd.h>
#include <warpmat/files/process.h>
#include <warpmat/launch/check_list.h>
#include <warpmat/ptx/text/readable_name.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "commands.h"
#include "examine.h"
#include "launch_flags.h"
#include "tools/command_line/execution_flags.h"
#include "tools/debug/dap.h"
#include "tools/debug/session.h"
#include "tools/report/supervision.h"

namespace warpmat {
namespace {

using debug::DebuggedProgram;

struct DebugOptions {
  LaunchFlags flags;
  std::vector<std::string> scripts, commands, blocks, program;
  std::string checks = usual_checks, program_target = "sm_90a";
  Timing timing = Timing::latest;
  std::uint64_t schedule = 0;
  bool batch = false, dap = false;
  int port = 0;
};

debug::LaunchChoice choice_of(const DebugOptions& options) {
  debug::LaunchChoice choice{.checks = parse_checks(options.checks), .timing = options.timing, .schedule = options.schedule};
  for (const std::string& block : options.blocks) {
    const auto index = dim3_of(parse_sizes(block).value_or(std::vector<std::uint64_t>{}), 0);
    if (!index) throw std::runtime_error(fmt::format("--blocks {}: it would be X, X,Y or X,Y,Z", block));
    choice.blocks.push_back(*index);
  }
  return choice;
}

debug::LoadedLaunch load(LaunchFlags flags) {
  flags.keep_registers = true;
  ReadyLaunch ready = ready_launch(flags, description_of(flags), {});
  return {std::move(ready.kernel), std::move(ready.description), std::move(ready.prepared)};
}

/// A launch of a file.
DebuggedProgram single_launch(const DebugOptions& options) {
  const auto loaded = std::make_shared<std::optional<debug::LoadedLaunch>>(load(options.flags));  // so that errors come first
  const std::string name = readable_name((*loaded)->kernel.entry());
  return {{name}, [loaded](std::size_t) { return std::move(loaded->value()); }, choice_of(options)};
}

/// The launches of a program: it runs to its end first, and each launch is kept with what its memory held before.
DebuggedProgram launches_of(const DebugOptions& options) {
  const auto folder = std::make_shared<TemporaryFolder>();
  std::vector<std::string> words{std::filesystem::read_symlink("/proc/self/exe").string(),
                                 "cuda",
                                 "--quiet",
                                 "--target",
                                 options.program_target,
                                 "--check",
                                 "none",
                                 "--save",
                                 (folder->path() / "launches").string()};
  words.insert(words.end(), options.program.begin(), options.program.end());
  ProcessOutput output;
  if (options.dap || options.port != 0) output.kind = ProcessOutput::Kind::to_error;  // standard output is the client's
  const int status = run_supervised(words, output);
  const std::vector<std::filesystem::path> saved = saved_launches(folder->path() / "launches");
  if (saved.empty()) throw std::runtime_error(fmt::format("{} launched no kernel (its status is {})", options.program.front(), status));
  DebuggedProgram program{.names = {}, .load = nullptr, .choice = choice_of(options)};
  for (const std::filesystem::path& file : saved) program.names.push_back(readable_name(read_launch(file).kernel));
  program.load = [folder, saved](std::size_t number) {
    LaunchFlags flags;
    flags.file = saved.at(number).string();
    return load(flags);
  };
  return program;
}

DebuggedProgram make_program(const DebugOptions& options) {
  return options.program.empty() ? single_launch(options) : launches_of(options);
}

/// The same by the arguments of a client's request.
DebuggedProgram make_program(DebugOptions options, const debug::Json& arguments) {
  if (arguments.contains("program")) {
    const std::string program = arguments.at("program");
    const bool is_file = program.ends_with(".json") || program.ends_with(".ptx") || program.ends_with(".cu");
    options.flags.file = is_file ? program : "";
    options.program.clear();
    if (!is_file) options.program.push_back(program);
    for (const std::string argument : arguments.value("args", debug::Json::array())) options.program.push_back(argument);
    if (is_file) options.program.clear();
  }
  if (arguments.contains("target")) options.flags.target = options.program_target = arguments.at("target");
  if (arguments.contains("check")) options.checks = arguments.at("check");
  if (arguments.contains("blocks")) options.blocks = arguments.at("blocks").get<std::vector<std::string>>();
  if (options.flags.file.empty() && options.program.empty())
    throw std::runtime_error("'program' names a launch.json, a .ptx file or a CUDA program");
  return make_program(options);
}

debug::Debugger* interrupted = nullptr;  ///< by Ctrl-C

void interrupt(int) {
  if (interrupted != nullptr && interrupted->runs()) interrupted->timeline().interrupt();
}

/// Says an error. Returns whether the session goes on: a script ends with it.
bool attempt(debug::Session& session, const std::string& command, bool& failed) {
  try {
    return session.execute(command);
  } catch (const std::exception& error) {
    fmt::print("error: {}\n", error.what());
    failed = true;
    return true;
  }
}

void run_terminal(const DebugOptions& options) {
  debug::Debugger debugger(make_program(options));
  interrupted = &debugger;
  struct sigaction action {};
  action.sa_handler = interrupt;
  sigaction(SIGINT, &action, nullptr);
  debug::Session session(debugger, [](const std::string& text) {
    fmt::print("{}\n", text);
    std::fflush(stdout);
  });
  bool failed = false;
  std::vector<std::string> commands;
  for (const std::string& script : options.scripts) {
    std::ifstream file(script);
    if (!file) throw std::runtime_error(fmt::format("-x {}: the file cannot be read", script));
    for (std::string line; std::getline(file, line);)
      if (!line.empty()) commands.push_back(line);
  }
  commands.insert(commands.end(), options.commands.begin(), options.commands.end());
  bool goes_on = true;
  for (const std::string& command : commands) {
    goes_on = attempt(session, command, failed);
    if (!goes_on || (failed && options.batch)) break;
  }
  const bool prompts = isatty(STDIN_FILENO) != 0;
  while (goes_on && !options.batch) {
    if (prompts) fmt::print("(warpmat) "), std::fflush(stdout);
    std::string line;
    if (!std::getline(std::cin, line)) break;
    goes_on = attempt(session, line, failed);
  }
  interrupted = nullptr;
  if (failed && options.batch) exit_with(1);
}

void run_debug(const DebugOptions& options) {
  static_cast<void>(parse_checks(options.checks));
  if (options.port != 0) {
    const int client = debug::accept_client(options.port);
    debug::serve_dap(client, client, [&](const debug::Json& arguments) { return make_program(options, arguments); });
    close(client);
  } else if (options.dap) {
    debug::serve_dap(STDIN_FILENO, STDOUT_FILENO, [&](const debug::Json& arguments) { return make_program(options, arguments); });
  } else {
    if (options.flags.file.empty() && options.program.empty()) require_option("FILE, or cuda PROGRAM,");
    run_terminal(options);
  }
}

}  // namespace

void add_debug(Command app) {
  const auto options = std::make_shared<DebugOptions>();
  const Command command = app.add_subcommand("debug", "Debug a launch or a CUDA program, forwards and backwards, without a GPU");
  add_launch_flags(command, options->flags);
  command.get_option("FILE").required(false);
  command.add_option("-x,--command", options->scripts, "Do the commands of a file first; may be repeated")
      .type_name("FILE")
      .allow_extra_args(false);
  command.add_option("--ex", options->commands, "Then do this command; may be repeated, and be written -ex")
      .type_name("COMMAND")
      .allow_extra_args(false);
  command.add_flag("--batch", options->batch, "End after these commands; the first error ends them, with status 1");
  command.add_option("--check", options->checks, all_check_names() + ", separated by commas; or all, or none").capture_default_str();
  command
      .add_option("--blocks", options->blocks,
                  "X, X,Y or X,Y,Z: see this block's statements alone, and run the others at full speed; may be repeated")
      .allow_extra_args(false);
  add_schedule_flag(command, options->schedule);
  add_timing_flag(command, options->timing);
  command.add_flag("--dap", options->dap, "Speak the Debug Adapter Protocol on standard input and output");
  command.add_option("--port", options->port, "Speak it on this port of 127.0.0.1, with the first client that comes")
      .range(1, 65535)
      .type_name("N");
  const Command cuda = command.add_subcommand("cuda", "Debug the launches of a CUDA program, which runs to its end first");
  cuda.prefix_command("PROGRAM [ARGUMENTS]");
  cuda.add_option("--target", options->program_target, "The GPU to be, for example sm_80").capture_default_str();
  cuda.callback([options, cuda] {
    options->program = cuda.remaining();
    if (options->program.empty()) require_option("PROGRAM");
  });
  command.footer(
      "The words are gdb's: break, run, continue, step, next, finish, watch, print, x, backtrace, info; reverse-continue, reverse-step "
      "and\n"
      "reverse-next go back. 'help' lists them. Lines of the source need PTX that nvcc made with -lineinfo. docs/use/debugger.md has a "
      "session.\n"
      "\n"
      "Examples:\n"
      "  warpmat debug launch.json\n"
      "  warpmat debug launch.json -ex 'break gemm.cu:41 if lane == 4' -ex run -ex 'print/x %r5' --batch\n"
      "  warpmat debug saxpy.ptx --grid 8 --block 128 --buffer x=x.npy --buffer y=zeros:4096 --param s32:1000 --param x --param y\n"
      "  warpmat debug -x find.gdb --batch cuda ./gemm 128\n"
      "  warpmat debug --dap");
  command.callback([options] { run_debug(*options); });
}

}  // namespace warpmat
