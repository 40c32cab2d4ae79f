#include <fmt/core.h>
#include <warpmat/files/output_file.h>
#include <warpmat/program.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "commands.h"
#include "run_report.h"
#include "tools/command_line/execution_flags.h"
#include "tools/command_line/label_flags.h"
#include "tools/command_line/limit_flags.h"
#include "tools/report/element_source.h"
#include "tools/report/evidence_line.h"
#include "tools/report/expectation.h"
#include "tools/report/npy.h"
#include "tools/report/program_warnings.h"
#include "tools/report/ptx_file.h"
#include "tools/report/session.h"
#include "tools/report/versus.h"
#include "tools/report/warp_place.h"

namespace warpmat {
namespace {

struct RunOptions {
  std::string file, target, versus;
  std::size_t shared_bytes = 0;
  std::vector<std::string> in, print, out, expect, layouts;
  ExecutionOptions execution;
  LabelOptions labels;
  std::string report;
  Limits limits;
};

SessionOptions session_options(const RunOptions& options) {
  return {options.file, options.in, options.layouts, options.shared_bytes};
}

void print_warnings(const Session& session, const std::string& file) {
  for (const std::string& warning : program_warnings(session.program, &session.filled)) fmt::print(stderr, "{}: {}\n", file, warning);
}

/// The matrix operands that the program writes, for --versus without --print.
std::vector<std::string> results_of(const Program& program) {
  std::vector<std::string> names;
  const auto statements = program.matrix_statements();
  for (std::size_t i = 0; i < statements.size(); ++i)
    for (const Operand& operand : statements[i]->matrix()->form().operands)
      if (operand.written) names.push_back(fmt::format("{}.{}", statement_name(program, i), name(operand.name)));
  return names;
}

void run_versus(const RunOptions& options, const Session& session) {
  Session other(session_options(options), options.versus);
  other.fill();
  run(other.warp, options.execution);
  const std::vector<std::string> texts = options.print.empty() ? results_of(session.program) : options.print;
  const auto places = session.places(texts), other_places = other.places(texts);
  for (std::size_t i = 0; i < places.size(); ++i) {
    fmt::print("{}", versus_text({session.warp, places[i], session.program.target()->name},
                                 {other.warp, other_places[i], other.program.target()->name}));
    const auto held = places[i].read(session.warp), other_held = other_places[i].read(other.warp);
    const auto first = static_cast<std::size_t>(std::ranges::mismatch(held, other_held).in1 - held.begin());
    if (first == held.size()) continue;
    if (const std::string element = explain_options(session.program, places[i], first); !element.empty())
      fmt::print(stderr, "explain: warpmat explain {}{} --against {}\n", session_text(session_options(options), options.target), element,
                 options.versus);
  }
  print_evidence(options.labels, other.program.target()->name, labelled(other.program));
}

/// Every statement once.
std::map<std::string, std::uint64_t> opcode_counts(const Program& program) {
  std::map<std::string, std::uint64_t> counts;
  for (const Statement& statement : program.statements()) ++counts[std::string(statement_opcode(statement))];
  return counts;
}

void run_program(const RunOptions& options, const Command& command) {
  Session session(session_options(options), options.target);
  const auto instructions = labelled(session.program);
  const std::vector<Assignment> outputs = assignments(session.program, options.out, "out", "FILE.npy", session.layouts);
  const std::vector<WarpPlace> shown = session.places(options.print);
  std::vector<Expectation> expectations;
  for (const Assignment& a : assignments(session.program, options.expect, "expect", "FILE.npy[:TOLERANCE]", session.layouts))
    expectations.emplace_back(a.place, a.what);
  for (const Assignment& output : outputs) check_output_place(output.what);
  if (!options.report.empty()) check_output_place(options.report);
  require_labels(options.labels, session.program.target()->name, instructions);

  session.fill();
  print_warnings(session, options.file);
  run(session.warp, options.execution);
  for (const WarpPlace& place : shown) fmt::print("{}\n", place.show(session.warp));
  for (const Assignment& output : outputs) write_npy(output.what, output.place.array(session.warp));
  if (!options.versus.empty()) run_versus(options, session);
  print_evidence(options.labels, session.program.target()->name, instructions);
  write_report(options.report, command, session.program.target()->name, instructions, opcode_counts(session.program));
  bool wrong = false;
  for (const Expectation& expectation : expectations) {
    const std::string text = expectation.compare(session.warp);
    fmt::print(stderr, "{}", text);
    if (const std::string element = expectation.explain_options(session.program, session.warp); !text.empty() && !element.empty())
      fmt::print(stderr, "explain: warpmat explain {}{}\n", session_text(session_options(options), options.target), element);
    wrong = wrong || !text.empty();
  }
  if (wrong) exit_with(1);
}

std::string run_footer() {
  return place_help() + "A SOURCE is FILE.npy, or - for a .npy file from standard input, or one of\n" + source_help() +
         "Registers and memory that --in does not name begin as zeros.\n\n" + dtype_help() +
         "\nExamples:\n"
         "  warpmat run mma.ptx --target sm_90a --in mma.0.a=iota --in mma.0.b=random:7 --print mma.0.d --print d0,d1:f32\n"
         "  warpmat run load.ptx --target sm_80 --in tile:f16:64=tile.npy --layout 'tile=swizzle<3,4,3>' --print ldmatrix.0.r:f16\n"
         "  warpmat run mma.ptx --target sm_90a --in 0.a=A.npy --in 0.b=B.npy --expect 0.d=D.npy:2ulp --versus sm_80";
}

}  // namespace

void add_run(Command app) {
  const auto options = std::make_shared<RunOptions>();
  const Command command = app.add_subcommand("run", "Execute a program on one warp");
  command.add_option("FILE", options->file, "PTX statements, with or without .version, .target, .reg and .shared").required();
  command.add_option("--target", options->target, "The GPU to be, for example sm_80 or sm_90a; else the file's own .target");
  command.add_option("--in", options->in, "PLACE=SOURCE: fill a place before the run; may be repeated").allow_extra_args(false);
  command.add_option("--print", options->print, "PLACE: print a place after the run; may be repeated").allow_extra_args(false);
  command.add_option("--out", options->out, "PLACE=FILE.npy: write a place after the run, - to standard output; may be repeated")
      .allow_extra_args(false);
  command
      .add_option(
          "--expect", options->expect,
          "PLACE=FILE.npy[:TOLERANCE]: compare a place after the run, and end with status 1 where it differs by more than TOLERANCE "
          "(0.01, or 2ulp: units in the last place; default: not at all); may be repeated")
      .allow_extra_args(false);
  command.add_option("--versus", options->versus, "Run as this GPU too, and say how the places of --print, or all results, differ")
      .type_name("T");
  command
      .add_option("--layout", options->layouts,
                  "NAME=LAYOUT: how a matrix lies in a shared variable: rows, padded<ROW_BYTES> or swizzle<BITS,BASE,SHIFT[,ROW_BYTES]>, "
                  "CuTe's on byte addresses; may be repeated")
      .allow_extra_args(false);
  command.add_option("--shared-bytes", options->shared_bytes, "Shared memory beyond the program's variables: this many bytes in all")
      .range(std::size_t{0}, std::size_t{1} << 30);
  add_execution_flags(command, options->execution);
  add_limit_flags(command, options->limits);
  add_label_flags(command, options->labels);
  add_report_option(command, options->report);
  command.footer(run_footer);
  command.callback([options, command] { within_limits(options->limits, [&](LimitedWork&) { run_program(*options, command); }); });
}

}  // namespace warpmat
