#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <stdexcept>

#include <warpmat/execute/fast/instruction_sets.h>
#include <warpmat/files/output_file.h>
#include <warpmat/machine/threads.h>

#include "report.h"

namespace warpmat {
namespace {

struct Options {
  std::string forms, target, set, markdown, only;
  MeasurementPlan plan;
};

std::vector<Selected> selection(const Options& options) {
  if (options.forms.empty() && options.target.empty()) return representative_selection();
  return select(options.forms, options.target.empty() ? nullptr : &target(options.target));
}

std::vector<std::string_view> chosen_sets(const std::string& name) {
  std::vector<std::string_view> sets = instruction_sets();
  if (sets.empty()) throw std::runtime_error("this CPU has none of the instruction sets that kernels exist for");
  if (name.empty()) return sets;
  use_instruction_set(name);  // throws if there is none
  std::erase_if(sets, [&](std::string_view set) { return set != name; });
  return sets;
}

void run(Options options) {
  for (const std::string& path : {options.markdown, options.plan.json})
    if (!path.empty()) check_output_place(path);
  options.plan.selected = selection(options);
  if (!options.only.empty()) {
    options.plan.instructions = options.only == "instructions";
    options.plan.rows = options.only == "rows";
    options.plan.product = options.only == "product";
  }
  options.plan.sets = chosen_sets(options.set);
  if (options.plan.instructions)
    fmt::print(stderr, "bench: measuring {} forms with {}, {} repetitions\n", options.plan.selected.size(),
               fmt::join(options.plan.sets, ", "), options.plan.repetitions);
  const Times times = measure(options.plan);
  fmt::print("{}", report_text(options.plan, times));
  if (!options.markdown.empty()) write_file(options.markdown, {report_page(options.plan, times)});
}

constexpr const char* footer = R"(Without --forms and --target, one form or a few of each unit and generation.

Examples:
  tools/bench
  tools/bench --forms . --set AVX2                         every form as every hardware executes it that does so in another way
  tools/bench --forms 'kind::' --target sm_120a --json F.json
  tools/bench --only product --set AVX-512
  tools/bench --markdown performance.md)";

void add_options(CLI::App& app, Options& options) {
  constexpr int max_threads = 1024, max_repetitions = 10000;
  app.add_option("--forms", options.forms, "Forms in whose opcode this regular expression is found")->type_name("REGEX");
  app.add_option("--target", options.target, "Forms of this target: sm_80, sm_90a, ...")->type_name("T");
  app.add_option("--set", options.set, "One instruction set: AVX-512, AVX2, SSE4; NEON (default: all that this CPU has)")->type_name("SET");
  app.add_option("--only", options.only, "One part alone: matrix instructions, rows of scalar statements, or a kernel's matrix product")
      ->type_name("PART")
      ->check(CLI::IsMember({"instructions", "rows", "product"}));
  options.plan.threads = static_cast<int>(machine::usable_cores());
  app.add_option("--threads", options.plan.threads, "Threads of the column with several (default: one for each core)")
      ->type_name("N")
      ->check(CLI::Range(1, max_threads));
  app.add_option("--repetitions", options.plan.repetitions, "Repetitions, of which the fastest counts (default: 20)")
      ->type_name("N")
      ->check(CLI::Range(1, max_repetitions));
  app.add_option("--json", options.plan.json, "Write every repetition to this file, as Google Benchmark does")->type_name("FILE.json");
  app.add_option("--markdown", options.markdown, "Write the tables with an explanation to this file")->type_name("FILE.md");
  app.footer(footer);
}

}  // namespace
}  // namespace warpmat

int main(int argc, char** argv) {
  CLI::App app("Measures how fast instructions are executed on this machine", "tools/bench");
  warpmat::Options options;
  warpmat::add_options(app, options);
  try {
    app.parse(argc, argv);
    warpmat::run(options);
  } catch (const CLI::ParseError& error) {
    return app.exit(error);
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench: {}\n", error.what());
    return 1;
  }
}
