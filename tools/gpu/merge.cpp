#include <fmt/format.h>
#include <warpmat/explain/table.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "commands.h"
#include "tools/command_line/handed_commands.h"
#include "tools/gpu/report/run_result.h"

namespace warpmat {
namespace {

struct MergeOptions {
  std::vector<std::string> files;
  std::string json;
};

/// "seed 1, warps 32": settings and amounts.
std::string properties_text(const RunResult& run) {
  std::string text;
  for (const Properties* properties : {&run.settings, &run.amounts})
    for (const auto& [name, value] : *properties) text += fmt::format(", {} {}", name, value);
  return text;
}

/// The table of a run: its rows and their sum. Seconds are not shown: all else is the same, however many machines shared the run.
void print(const RunResult& run) {
  fmt::print("{}{}{}: {} {} from {} on{}\n", run.run, run.target.empty() ? "" : " for ", run.target, run.range.count, run.unit,
             run.range.first, properties_text(run));
  if (!run.gpus.empty()) fmt::print("{}\n", cards_text(run));
  if (!run.complete) fmt::print("incomplete: {}\n", run.error);
  std::vector<std::string> header{"of"}, sum{"all"};
  header.insert(header.end(), run.columns.begin(), run.columns.end());
  Table table(header);
  for (const RunResult::Row& row : run.rows) {
    std::vector<std::string> words{row.name};
    for (const std::uint64_t count : row.counts) words.push_back(std::to_string(count));
    table.add(std::move(words));
  }
  for (const std::string& column : run.columns) sum.push_back(std::to_string(run.total(column)));
  if (run.rows.size() != 1) table.add(sum);
  fmt::print("{}", table.text());
}

void merge(const MergeOptions& options) {
  const std::vector<RunResult> runs = read_whole_runs(options.files);
  if (!options.json.empty()) {
    if (runs.size() != 1) throw std::runtime_error(fmt::format("--json takes one run; these are parts of {}", runs.size()));
    write_result(options.json, runs.front());
  }
  std::string wrong;
  for (const RunResult& run : runs) {
    if (&run != &runs.front()) fmt::print("\n");
    print(run);
    if (run.wrong() != 0) wrong += fmt::format("{}{}: {} {}", wrong.empty() ? "" : "; ", run.run, run.wrong(), run.columns.back());
    if (!run.complete) wrong += fmt::format("{}{}: incomplete", wrong.empty() ? "" : "; ", run.run);
  }
  if (!wrong.empty()) throw std::runtime_error(wrong);
}

constexpr const char* merge_footer =
    R"(A part that is missing, there twice, incomplete or of another run is refused. The files may be of several runs.
The exit status is 0 if all runs are complete and nothing is wrong: the last column counts that.

Examples:
  warpmat merge sweep_*.json
  warpmat merge fuzz_*.json --json fuzz.json)";

}  // namespace

void add_merge(Command app) {
  const auto options = std::make_shared<MergeOptions>();
  const Command command = add_handed_subcommand(app, "merge");
  command.add_option("FILE", options->files, "What --json of a run or of its parts wrote").required();
  command.add_option("--json", options->json, "Write the sum of one run's parts to this file").type_name("FILE.json");
  command.footer(merge_footer);
  command.callback([options] { merge(*options); });
}

}  // namespace warpmat
