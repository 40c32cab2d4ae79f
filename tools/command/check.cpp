#include <fmt/core.h>
#include <warpmat/assembler/assemble.h>
#include <warpmat/launch.h>
#include <warpmat/lower/resolve.h>
#include <warpmat/machine/internals.h>
#include <warpmat/program.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "commands.h"
#include "tools/command_line/label_flags.h"
#include "tools/report/doubts.h"
#include "tools/report/evidence_line.h"
#include "tools/report/program_warnings.h"
#include "tools/report/ptx_file.h"

namespace warpmat {
namespace {

struct CheckOptions {
  std::string file, target;
  bool all_errors = false, assembler = false;
  LabelOptions labels;
};

void print_errors(const std::vector<Diagnostic>& errors, const std::string& name, bool all) {
  constexpr std::size_t most = 20;
  const std::size_t shown = all ? errors.size() : std::min(most, errors.size());
  for (std::size_t i = 0; i < shown; ++i) fmt::print(stderr, "{}\n", errors[i].format(name));
  if (shown < errors.size()) fmt::print(stderr, "... and {} more (--all-errors)\n", errors.size() - shown);
}

void report_labels(const CheckOptions& options, std::string_view target, const std::vector<Labelled>& instructions) {
  require_labels(options.labels, target, instructions);
  print_evidence(options.labels, target, instructions);
}

/// What the assembler makes of statements: by line, once where entries share a function.
using AssemblerLines = std::set<std::pair<int, std::string>>;

std::string folded_text(const code::Folded& folded) {
  switch (folded.kind) {
    case code::Folded::Kind::constant: return fmt::format("folded to {:#x}, which the instruction need not give at run time", folded.bits);
    case code::Folded::Kind::divided: return fmt::format("simplified, as an operand is constant ({:#x})", folded.bits);
    case code::Folded::Kind::inverted: return "simplified: undoes the rcp or ex2 of its operand, whose rounding is left out";
    case code::Folded::Kind::scaled: return fmt::format("part of the product that it reads, which is rounded once ({:#x})", folded.bits);
  }
  return "";
}

void add_assembler_lines(const code::Program& program, AssemblerLines& lines) {
  const auto add = [&](std::uint32_t statement, const std::string& text) {
    const syntax::Statement& s = *program.statements[statement];
    lines.emplace(s.location.line, fmt::format("{}: {}", s.opcode, text));
  };
  for (const code::Folded& f : program.folded) add(f.statement, folded_text(f));
  for (const code::Doubt& doubt : program.doubted) add(doubt.statement, fmt::format("in doubt: {}", doubt_text(doubt.why)));
  for (const std::uint32_t statement : program.contracted) add(statement, "fused with a product into an fma");
}

void print(const AssemblerLines& lines, const std::string& file) {
  for (const auto& [line, text] : lines) fmt::print("{}:{}: {}\n", file, line, text);
  if (lines.empty()) fmt::print("{}: nothing is folded or fused\n", file);
}

/// What the entries and functions of a module have, each once, because entries share functions.
struct Checked {
  std::string target;
  std::vector<Labelled> instructions;
  std::vector<Diagnostic> errors;
  std::set<std::tuple<int, int, std::string>> seen;
  AssemblerLines lines;

  void add(const code::Program& program) {
    target = program.target->name;
    add_assembler_lines(program, lines);
    for (Labelled& instruction : labelled(program))
      if (std::ranges::find(instructions, instruction.what, &Labelled::what) == instructions.end())
        instructions.push_back(std::move(instruction));
  }

  void add(const SyntaxError& e) {
    for (const Diagnostic& error : e.errors)
      if (seen.emplace(error.location.line, error.location.column, error.message).second) errors.push_back(error);
  }
};

code::Program resolve_functions(const Module& module, const std::string& target) {
  return code::resolve_functions(Internals::syntax(module), target.empty() ? nullptr : &warpmat::target(target),
                                 [](code::ProgramDraft& draft) { code::assemble(draft, {}, nullptr); });
}

/// Resolves every entry, and every function. Throws SyntaxError with all errors. Returns how many entries and functions there are.
std::pair<std::size_t, std::size_t> check_module(const std::string& text, const CheckOptions& options) {
  const Module module(text);
  Checked found;
  for (const std::string& entry : module.entries()) try {
      found.add(program_of(Kernel(module, entry, {.target = options.target})));
    } catch (const SyntaxError& e) {
      found.add(e);
    }
  const auto functions = std::ranges::count_if(syntax_of(module).functions, [](const auto& f) { return f.defined && !f.entry; });
  if (functions > 0) try {
      found.add(resolve_functions(module, options.target));
    } catch (const SyntaxError& e) {
      found.add(e);
    }
  if (!found.errors.empty()) throw SyntaxError(std::move(found.errors));
  if (options.assembler) print(found.lines, options.file);
  report_labels(options, found.target, found.instructions);
  return {module.entries().size(), static_cast<std::size_t>(functions)};
}

/// "1 entry", "2 entries", "3 functions" of a module without entries.
std::string counted(std::size_t entries, std::size_t functions) {
  if (entries == 0 && functions > 0) return fmt::format("{} {}", functions, functions == 1 ? "function" : "functions");
  return fmt::format("{} {}", entries, entries == 1 ? "entry" : "entries");
}

void check(const CheckOptions& options) {
  const auto [text, name] = read_ptx(options.file, options.target);
  try {
    if (has_functions(text)) {
      const auto [entries, functions] = check_module(text, options);
      fmt::print("{}: {}, no errors for {}\n", name, counted(entries, functions),
                 options.target.empty() ? "the module's target" : options.target);
      return;
    }
    if (options.assembler) refuse_option("--assembler", "is for modules: the statements of a list are executed one by one, as they stand");
    const Program program = parse(text, options.target);
    for (const std::string& warning : program_warnings(program, nullptr)) fmt::print(stderr, "{}: {}\n", options.file, warning);
    report_labels(options, program.target()->name, labelled(program));
    const std::size_t statements = program.statements().size();
    fmt::print("{}: {} {}, no errors for {}\n", name, statements, statements == 1 ? "statement" : "statements", program.target()->name);
  } catch (const SyntaxError& e) {
    print_errors(e.errors, name, options.all_errors);
    exit_with(1);
  }
}

}  // namespace

void add_check(Command app) {
  const auto options = std::make_shared<CheckOptions>();
  const Command command = app.add_subcommand("check", "Report every error of a program or a module");
  command.add_option("FILE", options->file, "A module with entries, or PTX statements with or without .version, .target, .reg and .shared")
      .required();
  command.add_option("--target", options->target, "The target to judge for; else the file's own .target");
  command.add_flag("--all-errors", options->all_errors, "Report more than 20 errors");
  command.add_flag("--assembler", options->assembler,
                   "Of a module: list by line what ptxas computes itself and which sums it fuses (docs/reference/assembler.md)");
  add_label_flags(command, options->labels);
  command.footer(
      "Every error is reported as FILE:LINE:COLUMN: error: MESSAGE, followed by the line and a caret; the exit status is then 1.\n"
      "Probable mistakes are warnings: registers of an operand that nothing writes beside some that are written, selectors and ids that "
      "will\n"
      "trap. 'warpmat run' knows what is filled, and warns of more.\n"
      "Control bytes and what is no UTF-8 are shown as \\xNN.\n"
      "\n"
      "Examples:\n"
      "  warpmat check kernel.ptx\n"
      "  warpmat check kernel.ptx --target sm_80\n"
      "  warpmat check kernel.ptx --assembler");
  command.callback([options] { check(*options); });
}

}  // namespace warpmat
