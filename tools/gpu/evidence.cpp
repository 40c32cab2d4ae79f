#include <fmt/core.h>
#include <warpmat/machine/threads.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "commands.h"
#include "gpu/ask/questions.h"
#include "gpu/recordings/vectors.h"
#include "gpu/runners/emulator_runner.h"
#include "tools/command_line/handed_commands.h"
#include "tools/gpu/report/evidence_page.h"
#include "tools/gpu/report/merge_shards.h"
#include "tools/gpu/report/upgrade_report.h"
#include "tools/report/input_file.h"
#include "tools/report/progress.h"

namespace warpmat {
namespace {

namespace fs = std::filesystem;

struct EvidenceOptions {
  std::vector<std::string> files;
};

bool holds_recordings(const std::string& file) {
  return file.ends_with(".jsonl.gz") || fs::is_directory(file);
}

// ---- Recorded answers -------------------------------------------------------------------------------------------------------------------

/// The properties that merging needs of a file with the output of `record`, or of a part of it.
Part part_of(const Recording& recording, const std::string& file) {
  const Provenance& p = recording.provenance;
  Part part{.file = file, .shard = p.shard, .complete = p.complete, .range = {0, 1}};
  part.cases = {{"target", p.target},
                {"GPU", fmt::format("{}, driver {}, assembler {}", p.card, p.driver, p.assembler)},
                {"seed", fmt::format("{}", p.seed)},
                {"version of the generator", fmt::format("{}", p.generator)},
                {"version of warpmat", p.version}};
  part.run = part.cases;
  part.run.emplace_back("number of parts", fmt::format("{}", p.shard.count));
  part.run.emplace_back("forms", fmt::format("{}", p.forms));
  if (!recording.answers.empty()) part.run.emplace_back("warps of each class", fmt::format("{}", recording.answers.front().warps));
  for (const Answers& answers : recording.answers)
    if (part.items.empty() || part.items.back() != answers.opcode) part.items.push_back(answers.opcode);
  return part;
}

/// All recordings of one card, and those of a run's parts.
std::vector<Recording> recordings(const std::vector<std::string>& files) {
  std::vector<Recording> of_forms, of_runs;  // files of one form each; files of a run
  std::vector<Part> parts;
  for (const std::string& name : files)
    for (const fs::path& path : recording_files(name)) {
      Recording recording = read_recording(path);
      if (recording.provenance.forms == 0) {
        of_forms.push_back(std::move(recording));
      } else {
        parts.push_back(part_of(recording, path.string()));
        of_runs.push_back(std::move(recording));
      }
    }
  std::vector<Recording> all;
  for (const std::vector<std::size_t>& run : runs_of(parts)) {
    Recording& whole = all.emplace_back(of_runs[run.front()]);
    whole.provenance.shard = {};
    for (const std::size_t i : std::vector(run.begin() + 1, run.end()))
      whole.answers.insert(whole.answers.end(), of_runs[i].answers.begin(), of_runs[i].answers.end());
  }
  for (const Recording& form : of_forms) {
    const auto same = [&](const Recording& other) { return other.provenance == form.provenance; };
    auto known = std::ranges::find_if(all, same);
    if (known == all.end()) known = all.insert(all.end(), {form.provenance, {}});
    known->answers.insert(known->answers.end(), form.answers.begin(), form.answers.end());
  }
  return all;
}

void print_upgrades(const std::vector<std::string>& files) {
  const std::vector<Recording> all = recordings(files);
  if (all.empty()) throw std::runtime_error(fmt::format("{} holds no file that ends with .jsonl.gz", files.front()));
  const unsigned threads = machine::usable_cores();
  for (const Recording& recording : all) {
    std::vector<Replayed> results;
    {
      Progress progress(recording.answers.size());
      const auto emulator = [] { return std::make_unique<EmulatorRunner>(0, 1); };
      std::optional<EmulatorKernelRunner> kernels;
      if (const Target* known = find_target(recording.provenance.target)) kernels.emplace(*known);
      results = replay_all(
          emulator, recording, threads, ~std::size_t{0}, [&] { progress.advance(); }, kernels ? &*kernels : nullptr);
    }
    fmt::print("{}{}", &recording == &all.front() ? "" : "\n", upgrade_report(recording, results));
  }
}

/// The text that ask.cu printed, in a file of any name; none of a file that holds none.
std::optional<std::string> card_answers(const std::string& file) {
  if (file.ends_with(".gz") || fs::is_directory(file)) return std::nullopt;
  const std::string text = read_file(file);
  return ask::holds_answers(text) ? std::optional(text) : std::nullopt;
}

void print_evidence(const EvidenceOptions& options) {
  if (options.files.size() == 1)
    if (const auto text = card_answers(options.files.front())) {
      fmt::print("{}", ask::decisions(ask::read_answers(*text)));
      return;
    }
  const auto recorded = std::ranges::count_if(options.files, holds_recordings);
  if (recorded == 0) {
    fmt::print("{}", evidence_page(read_whole_runs(options.files)));
    return;
  }
  if (static_cast<std::size_t>(recorded) != options.files.size())
    throw std::runtime_error("recorded answers and the JSON of diff or fuzz have different pages: name only files of one kind");
  print_upgrades(options.files);
}

constexpr const char* evidence_footer =
    R"(Of the JSON of diff and fuzz it makes the page of evidence. The parts of a run that several machines shared (--shard) are put together; a part
that is missing, there twice, incomplete or of another run is refused.
Of recorded answers it says what they would upgrade: which rows of 'warpmat list' they prove, and where the card contradicts the emulator.

Examples:
  warpmat evidence sweep.json fuzz.json > evidence.md
  warpmat evidence sweep_*.json > evidence.md
  warpmat evidence my_card.jsonl.gz
  warpmat evidence issue.txt)";

}  // namespace

void add_evidence(Command app) {
  const auto options = std::make_shared<EvidenceOptions>();
  const Command command = add_handed_subcommand(app, "evidence");
  command.add_option("FILE", options->files, "What diff --json and fuzz --json wrote, what record wrote, or a text that ask.cu printed")
      .required();
  command.footer(evidence_footer);
  command.callback([options] { print_evidence(*options); });
}

}  // namespace warpmat
