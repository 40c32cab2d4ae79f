#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include <warpmat/files/output_file.h>
#include <warpmat/machine/threads.h>
#include "commands.h"

#include "gpu/lab/mutants/refute.h"
#include "tools/command_line/handed_commands.h"
#include "tools/lab/report/published_page.h"

namespace warpmat {
namespace {

using Json = nlohmann::ordered_json;

struct MutantsOptions {
  std::string directory, json;
  unsigned jobs = machine::usable_cores();
};

void write_json(const std::string& file, const std::vector<Verdict>& verdicts) {
  Json all = Json::array();
  for (const Verdict& verdict : verdicts) {
    Json entry = {{"form", verdict.form->opcode}, {"mutant", verdict.change}, {"killed", verdict.killed}};
    if (verdict.killed) entry.update({{"class", verdict.operand_class}, {"case", verdict.warp}});
    all.push_back(std::move(entry));
  }
  write_file(file, {all.dump(1) + "\n"});
}

/// Whether the directory has tables of published products.
bool holds_published(const std::string& directory) {
  if (!std::filesystem::is_directory(directory)) return false;
  return std::ranges::any_of(std::filesystem::directory_iterator(directory),
                             [](const auto& entry) { return entry.path().string().ends_with(".tsv.gz"); });
}

void refute(const MutantsOptions& options) {
  if (holds_published(options.directory)) return fmt::print("{}", published_page(read_published(options.directory)));
  if (!options.json.empty()) check_output_place(options.json);
  std::vector<Recording> recordings;
  for (const std::filesystem::path& path : recording_files(options.directory)) recordings.push_back(read_recording(path));
  if (recordings.empty()) throw std::runtime_error(fmt::format("{} holds no file that ends with .jsonl.gz", options.directory));
  const std::vector<Verdict> verdicts = refute_mutants(recordings, options.jobs);
  fmt::print("{}", mutants_markdown(verdicts));
  if (!options.json.empty()) write_json(options.json, verdicts);
  for (const Verdict& verdict : verdicts)
    if (!verdict.killed && !reason_to_survive(*verdict.form, verdict.change))
      throw std::runtime_error(fmt::format("{} of {} survives without a known reason", verdict.change, verdict.form->opcode));
}

constexpr const char* mutants_footer =
    R"(Mutants are made from the table of unit models and the list of deviations ('warpmat distinguish --help'): one for each constant one and two
more and less, each floor left out, each rule turned, for each form that it concerns; and every two index bits of every operand's layout
exchanged. A mutant is killed by the first recorded answer that
is not its own. The exit status is 0 if every survivor has a known reason, and 1 otherwise.

Examples:
  warpmat mutants tests/vectors/sm_90 --json mutants.json
  warpmat mutants tests/vectors/published)";

}  // namespace

void add_mutants(Command app) {
  constexpr unsigned max_jobs = 1024;
  const auto options = std::make_shared<MutantsOptions>();
  const Command command = add_handed_subcommand(app, "mutants");
  command.add_option("DIRECTORY", options->directory, "Files that 'warpmat record' wrote, or tables of published products").required();
  command.add_option("--json", options->json, "Write every verdict to this file").type_name("FILE.json");
  command.add_option("--jobs", options->jobs, "Threads (default: one for each core)").type_name("N").range(1u, max_jobs);
  command.footer(mutants_footer);
  command.callback([options] { refute(*options); });
}

}  // namespace warpmat
