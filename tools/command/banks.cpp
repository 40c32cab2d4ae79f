#include <fmt/core.h>
#include <warpmat/ir/code.h>
#include <warpmat/launch/check_list.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "commands.h"
#include "launch_flags.h"
#include "tools/command_line/limit_flags.h"
#include "tools/report/bank_program.h"
#include "tools/report/bank_report.h"
#include "tools/report/ptx_file.h"

namespace warpmat {
namespace {

struct BanksOptions {
  LaunchFlags flags;
  std::string format = "text";
  std::optional<int> line;
  Limits limits;
};

/// Counts a kernel's accesses; if the file has no entry, those of its statements on one warp.
BankReport counted(const BanksOptions& options, LimitedWork& limited) {
  BankReport report;
  if (!options.flags.file.ends_with(".json") && options.flags.grid.empty() && is_statement_list(options.flags.file)) {
    count_program(options.flags.file, options.flags.target, options.flags.shared_bytes, report);
    return report;
  }
  ReadyLaunch ready = ready_launch(options.flags, description_of(options.flags), options.limits);
  LaunchOptions launch_options;
  launch_options.observers = {&report};
  launch_options.stop = limited.stop();
  launch(ready, launch_options);
  return report;
}

const BankLine& chosen(const std::vector<BankLine>& lines, int number) {
  for (const BankLine& line : lines)
    if (!line.global && line.line == number) return line;
  throw std::invalid_argument(fmt::format("--line {}: no statement of that line accessed shared memory", number));
}

std::string banks(const BanksOptions& options, LimitedWork& limited) {
  const BankReport report = counted(options, limited);
  const std::vector<BankLine> lines = report.lines();
  if (options.format == "json") return bank_json(lines).dump(1) + '\n';
  if (options.format == "svg") {
    if (!options.line) throw std::invalid_argument("--format svg is the picture of one statement: name it by --line");
    return bank_picture_svg(chosen(lines, *options.line));
  }
  return options.line ? bank_picture_text(chosen(lines, *options.line)) : bank_table(lines);
}

}  // namespace

void add_banks(Command app) {
  const auto options = std::make_shared<BanksOptions>();
  const Command command = app.add_subcommand("banks", "Count the bank conflicts of shared memory and the sectors of global memory");
  add_launch_flags(command, options->flags);
  command.add_option("--line", options->line, "Draw the worst execution of this line: phases and what they ask of 32 banks").type_name("N");
  command.add_option("--format", options->format, "text, json, or with --line svg (default: text)")
      .type_name("FORMAT")
      .one_of({"text", "json", "svg"});
  add_limit_flags(command, options->limits);
  command.footer(
      "FILE is what 'warpmat launch' takes; or a list of statements as for 'warpmat run', which one warp executes with registers that are "
      "zero.\n"
      "A wavefront takes one word of four bytes from each of 32 banks. 'least' is what the same statements took without conflicts. 'rule' "
      "says\n"
      "how the count is known: measured on an H200 by cycles, or assumed of other GPUs, of cp.async below 16 bytes, of atomics and of "
      "accesses\n"
      "by some of the lanes. Of global memory the table has sectors of 32 bytes and the least that would hold so many bytes.\n"
      "\n"
      "Examples:\n"
      "  warpmat banks launch.json\n"
      "  warpmat banks launch.json --line 42\n"
      "  warpmat banks transpose.ptx --target sm_90 --grid 4 --block 256 --buffer x=x.npy --buffer y=zeros:4096 --param x --param y "
      "--format json");
  command.callback(
      [options] { within_limits(options->limits, [&](LimitedWork& limited) { fmt::print("{}", banks(*options, limited)); }); });
}

}  // namespace warpmat
