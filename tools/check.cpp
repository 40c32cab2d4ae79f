#include <fmt/format.h>
#include <warpmat/ptx/program.h>

#include <cstdio>
#include <memory>

#include "commands.h"
#include "tools/library/ptx_file.h"

namespace warpmat {
namespace {

struct Options {
  std::string file, target;
};

void check(const Options& options) {
  const std::string text = read_ptx(options.file);
  try {
    const Program program = parse(text, options.target);
    fmt::print("{}: {} statements, no errors for {}\n", options.file, program.statements.size(), program.target->name);
  } catch (const SyntaxError& e) {
    for (const Diagnostic& error : e.errors) fmt::print(stderr, "{}\n", error.format(options.file));
    throw CLI::RuntimeError(1);
  }
}

}  // namespace

void add_check(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("check", "Report every error of a program");
  command->add_option("FILE", options->file, "PTX statements, with or without .version, .target, .reg and .shared")->required();
  command->add_option("--target", options->target, "The target to judge for; else the file's own .target");
  command->footer(
      "Every error is reported as FILE:LINE:COLUMN: error: MESSAGE, followed by the line and a caret; the exit status is then 1.\n"
      "\n"
      "Examples:\n"
      "  warpmat check kernel.ptx\n"
      "  warpmat check kernel.ptx --target sm_80");
  command->callback([options] { check(*options); });
}

}  // namespace warpmat
