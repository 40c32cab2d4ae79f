#include <fmt/core.h>
#include <fmt/ranges.h>
#include <warpmat/explain/table.h>
#include <warpmat/machine/threads.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "commands.h"
#include "compared_archive.h"
#include "gpu/recordings/vectors.h"
#include "gpu/runners/emulator_runner.h"
#include "tools/command_line/handed_commands.h"
#include "tools/command_line/limit_flags.h"
#include "tools/gpu/report/interruption.h"
#include "tools/gpu/report/result_options.h"
#include "tools/gpu/report/run_result.h"
#include "tools/report/progress.h"

namespace warpmat {
namespace {

struct ReplayOptions {
  std::vector<std::string> files;
  unsigned jobs = machine::usable_cores();
  CompareArchiveOptions launches;
  ResultOptions result;  ///< its shard: of the recorded classes
};

/// The sum over the classes of one form and card.
struct FormResult {
  std::size_t classes = 0, outputs = 0, different = 0, not_compared = 0;
};

/// All comparisons, with their report.
class Results {
 public:
  void add(const Provenance& provenance, const Answers& answers, const Replayed& replayed) {
    FormResult& form = forms_[{provenance.card, answers.opcode}];
    ++form.classes;
    form.outputs += replayed.outputs;
    if (replayed.outcome == Replayed::Outcome::differs) ++form.different;
    if (replayed.outcome != Replayed::Outcome::differs && replayed.outcome != Replayed::Outcome::agrees) ++form.not_compared;
    if (replayed.outcome == Replayed::Outcome::other_operands) stale_ = true;
    if (replayed.outcome != Replayed::Outcome::agrees) say(answers, replayed);
    sum_.classes += 1;
    sum_.outputs += replayed.outputs;
    sum_.different += replayed.outcome == Replayed::Outcome::differs;
  }

  void print() const {
    Table table({"card", "form", "classes", "outputs", "differ", "not compared"});
    for (const auto& [key, form] : forms_)
      table.add({key.first, key.second, std::to_string(form.classes), std::to_string(form.outputs), std::to_string(form.different),
                 std::to_string(form.not_compared)});
    fmt::print("{}", table.text());
    for (const std::string& sentence : sentences_) fmt::print("{}\n", sentence);
    fmt::print("{} forms, {} classes: {} outputs compared, {} classes differ, {} not compared\n", forms_.size(), sum_.classes, sum_.outputs,
               sum_.different, not_compared());
  }

  /// Completes `result` by the counts.
  void add_to(RunResult& result) const {
    result.columns = {"classes", "outputs", "not compared", "differ"};
    for (const auto& [key, form] : forms_)
      result.rows.push_back(
          {fmt::format("{}, {}", key.second, key.first), {form.classes, form.outputs, form.not_compared, form.different}});
    if (stale_) end_early(result, stale);
  }

  void fail_if_wrong() const {
    if (sum_.different != 0)
      throw std::runtime_error(fmt::format("{} of {} recorded classes differ from the emulator", sum_.different, sum_.classes));
    if (stale_) throw std::runtime_error(stale);
    if (sum_.outputs == 0) throw std::runtime_error("nothing was compared");
  }

 private:
  static constexpr const char* stale = "some answers were recorded for operands that this build no longer draws: record them again";

  void say(const Answers& answers, const Replayed& replayed) {
    const bool differs = replayed.outcome == Replayed::Outcome::differs;
    const std::string sentence = differs ? fmt::format("differs: {}, class {}: {} of {} blocks; {}", answers.opcode, answers.operand_class,
                                                       replayed.different_blocks, replayed.blocks, replayed.detail)
                                         : fmt::format("not compared: {}", replayed.detail);
    if (std::ranges::find(sentences_, sentence) == sentences_.end()) sentences_.push_back(sentence);
  }

  std::size_t not_compared() const {
    std::size_t count = 0;
    for (const auto& [key, form] : forms_) count += form.not_compared;
    return count;
  }

  std::map<std::pair<std::string, std::string>, FormResult> forms_;
  std::vector<std::string> sentences_;
  FormResult sum_;
  bool stale_ = false;
};

std::vector<Recording> read_all(const ReplayOptions& options, std::size_t& answers) {
  std::vector<Recording> recordings;
  for (const std::string& name : options.files)
    for (const std::filesystem::path& path : recording_files(name)) {
      recordings.push_back(read_recording(path));
      answers += recordings.back().answers.size();
    }
  if (recordings.empty()) throw std::runtime_error(fmt::format("{} holds no file that ends with .jsonl.gz", options.files.front()));
  return recordings;
}

/// Begins the result, and leaves of the recordings this part's answers: the number of those.
std::size_t take_part(std::vector<Recording>& recordings, std::size_t answers, RunResult& result) {
  std::string all;
  for (const Recording& recording : recordings) {
    all += fmt::format("{} {} {}\n", recording.provenance.card, recording.provenance.target, recording.provenance.seed);
    for (const Answers& some : recording.answers)
      all += fmt::format("{} {} {} {}\n", some.opcode, some.operand_class, some.warps, fmt::join(some.digests, " "));
  }
  result.settings = {{"recorded answers", digest(all)}};
  result.unit = "classes";
  result.range = {0, answers};
  result.items = {"classes"};
  const auto [first, count] = share_of(result.shard, answers, "classes");
  std::size_t begin = 0;
  for (Recording& recording : recordings) {
    std::vector<Answers> kept;
    for (Answers& some : recording.answers)
      if (begin++ - first < count) kept.push_back(std::move(some));
    recording.answers = std::move(kept);
  }
  std::erase_if(recordings, [](const Recording& recording) { return recording.answers.empty(); });
  return count;
}

void print_sources(const std::vector<Recording>& recordings) {
  std::set<std::string> sources;
  for (const auto& [p, answers] : recordings)
    sources.insert(fmt::format("{}, compute capability {}, driver {}, assembler {}; {}, seed {}, recorded {}", p.card, p.compute_capability,
                               p.driver, p.assembler, p.target, p.seed, p.date));
  for (const std::string& source : sources) fmt::print("{}\n", source);
}

void replay_files(const ReplayOptions& options) {
  options.result.check();
  std::size_t answers = 0;
  std::vector<Recording> recordings = read_all(options, answers);
  RunResult result = begun_result("replay", nullptr, options.result.shard);
  answers = take_part(recordings, answers, result);
  const auto start = std::chrono::steady_clock::now();
  Results results;
  {
    Progress progress(answers);
    const auto emulator = [] { return std::make_unique<EmulatorRunner>(0, 1); };
    for (const Recording& recording : recordings) {
      std::optional<EmulatorKernelRunner> kernels;
      if (const Target* known = find_target(recording.provenance.target)) kernels.emplace(*known);
      const std::vector<Replayed> replayed = replay_all(
          emulator, recording, options.jobs, ~std::size_t{0}, [&] { progress.advance(); }, kernels ? &*kernels : nullptr);
      for (std::size_t i = 0; i < replayed.size(); ++i) results.add(recording.provenance, recording.answers[i], replayed[i]);
    }
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  results.add_to(result);
  write_result(options.result.json, result);
  print_sources(recordings);
  results.print();
  results.fail_if_wrong();
}

/// Archives of programs' launches.
void replay_launches(const ReplayOptions& options) {
  if (!options.result.shard.whole() || !options.result.json.empty())
    throw std::runtime_error("--shard and --json are for recorded answers, not for a program's launches");
  catch_interruptions();
  CompareArchiveOptions launches = options.launches;
  launches.jobs = static_cast<int>(options.jobs);
  for (const std::string& file : options.files) compare_archive(file, launches);
}

constexpr const char* replay_footer =
    R"(The exit status is 0 if everything that this build knows agrees, and 1 otherwise. Forms and classes that it does not know are counted.

Examples:
  warpmat replay tests/vectors/sm_90
  warpmat replay my_card.jsonl.gz
  warpmat replay tests/vectors/sm_90 --shard 2/8 --json replay_2.json
  warpmat replay program.launches)";

}  // namespace

void add_replay(Command app) {
  constexpr unsigned max_jobs = 1024;
  const auto options = std::make_shared<ReplayOptions>();
  const Command command = add_handed_subcommand(app, "replay");
  command.add_option("FILE", options->files, "Files that 'warpmat record' wrote, or directories of them").required();
  command.add_option("--jobs", options->jobs, "Threads (default: one for each core)").type_name("N").range(1u, max_jobs);
  add_result_options(command, options->result);
  command.footer(replay_footer);
  command.add_option("--target", options->launches.target, "Of a program's launches: the GPU to be, in place of the one that ran them");
  command.add_option("--keep", options->launches.keep, "Of a program: directory for the launches that differ (default: this one)")
      .type_name("DIRECTORY");
  add_comparing_flags(command, options->launches);
  add_memory_flag(command, options->launches.memory);
  command.callback([options] {
    const LimitedWork limited({.seconds = 0, .memory = options->launches.memory});
    holds_launches(options->files.front()) ? replay_launches(*options) : replay_files(*options);
  });
}

}  // namespace warpmat
