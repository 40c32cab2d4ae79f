#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <warpmat/files/output_file.h>
#include <warpmat/version.h>

#include "commands.h"
#include "gpu/ask/questions.h"
#include "gpu/cuda/gpu_runner.h"
#include "gpu/cuda/kernel_gpu.h"
#include "gpu/recordings/limit.h"
#include "gpu/recordings/vectors.h"
#include "gpu/runners/emulator_runner.h"
#include "record_approximate.h"
#include "recorded_program.h"
#include "tools/command_line/handed_commands.h"
#include "tools/gpu/report/form_selection.h"
#include "tools/gpu/report/interruption.h"
#include "tools/gpu/report/result_options.h"
#include "tools/gpu/report/run_result.h"
#include "tools/report/progress.h"

namespace warpmat {
namespace {

namespace fs = std::filesystem;

struct RecordOptions {
  std::string out, forms, target;
  std::string ask;  ///< the place of the program for a card elsewhere
  bool all = false;
  bool approximate = false;
  std::uint64_t limit = 0;  ///< bytes of the file; 0: none
  RecordingSize size;
  std::uint64_t seed = 1;
  Shard shard;
  RecordedProgramOptions program;  ///< behind "--"
};

constexpr std::string_view file_ending = ".jsonl.gz";

/// "warpmat_sm_90_NVIDIA_H200.jsonl.gz": the file of --all, for the card's GPU and, with --shard, the part.
std::string file_name(const GpuRunner& gpu, const RecordOptions& options) {
  std::string name = fmt::format("warpmat_{}_{}", warpmat::name(gpu.target().hardware), gpu.gpus().front().card);
  if (!options.shard.whole()) name += fmt::format("_{}_of_{}", options.shard.number, options.shard.count);
  const auto odd = [](char c) { return !(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9'); };
  std::ranges::replace_if(name, odd, '_');
  return name + std::string(file_ending);
}

Provenance provenance(const GpuRunner& gpu, const Target& target, std::uint64_t seed) {
  const GpuInfo& info = gpu.gpus().front();
  return {.card = info.card,
          .compute_capability = info.compute_capability,
          .driver = info.driver,
          .assembler = info.assembler,
          .target = std::string(target.name),
          .date = today(),
          .seed = seed};
}

/// The forms that --forms selects; by default the forms of one warp.
std::vector<TestedForm> selected_forms(const Target& target, const std::string& pattern) {
  if (!pattern.empty()) return select_tested_forms(target, pattern);
  const std::vector<const Form*> forms = select_forms(target, pattern);
  std::vector<TestedForm> selected;
  for (const Form* form : forms) selected.emplace_back(*form);
  return selected;
}

/// The forms of this part: every N-th, so that the parts take the same time.
std::vector<TestedForm> part_of(const std::vector<TestedForm>& forms, const Shard& shard) {
  std::vector<TestedForm> part;
  for (std::size_t i = shard.number - 1; i < forms.size(); i += shard.count) part.push_back(forms[i]);
  return part;
}

/// The output of answers: into one file at the end, or into a file for each form as soon as that is complete.
class Output {
 public:
  /// `out` ends with .jsonl.gz, or is a directory. Only a single file keeps the provenance of the whole run.
  Output(std::string out, Provenance provenance) : out_(std::move(out)), one_file_(out_.ends_with(file_ending)) {
    all_.provenance = std::move(provenance);
    if (one_file_) {
      check_output_place(out_);
      return;
    }
    all_.provenance.forms = 0;
    std::error_code error;
    fs::create_directories(out_, error);
    if (error) throw std::runtime_error(fmt::format("cannot make the directory {}: {}", out_, error.message()));
  }

  void add(const TestedForm& form, std::vector<Answers> answers) {
    ++forms_;
    classes_ += answers.size();
    differing_ += static_cast<std::size_t>(std::ranges::count_if(answers, [](const Answers& a) { return !a.example_warps.empty(); }));
    if (one_file_) {
      all_.answers.insert(all_.answers.end(), answers.begin(), answers.end());
    } else {
      write(fs::path(out_) / recording_file_name(form), {all_.provenance, std::move(answers)});
    }
  }

  /// Writes everything that is not written yet. Called also after a failure or an interruption, so that nothing is lost.
  void finish(bool complete, std::uint64_t limit) {
    complete_ = complete;
    if (!one_file_ || forms_ == 0) return;
    all_.provenance.complete = complete;
    if (limit != 0) left_out_examples_ = limit_size(all_, limit);
    write(out_, all_);
  }

  std::string text() const {
    std::string text =
        fmt::format("{} forms in {} classes, {} bytes in {}{}", forms_, classes_, bytes_, out_, complete_ ? "" : "; incomplete");
    if (left_out_examples_ != 0) text += fmt::format("\n{} examples left out to keep the limit; every digest is there", left_out_examples_);
    if (differing_ == 0) return text + "\nthe emulator gives the same answers";
    return text + fmt::format("\nthe emulator gives other answers in {} classes; the file holds what shows that", differing_);
  }

  bool complete() const { return complete_; }
  std::string done_text() const { return fmt::format("{} forms recorded; the others were not", forms_); }

 private:
  void write(const fs::path& path, const Recording& recording) {
    const std::string bytes = encode(recording);
    bytes_ += bytes.size();
    write_file(path, {bytes});
  }

  std::string out_;
  bool one_file_;
  Recording all_;
  bool complete_ = true;
  std::size_t forms_ = 0, classes_ = 0, differing_ = 0, bytes_ = 0, left_out_examples_ = 0;
};

std::vector<Answers> record_form(const CaseRunner& runner, const TestedForm& form, const Target& target, const RecordOptions& options) {
  EmulatorRunner programs(runner.programs->shared_base());
  EmulatorKernelRunner kernels(target);
  const CaseRunner emulator(programs, &kernels);
  std::vector<Answers> answers;
  for (const OperandClass& operand_class : operand_classes())
    if (applies(operand_class, form))
      for (const int variant : recorded_variants(form, operand_class))
        answers.push_back(record(runner, form, target, operand_class, options.seed, options.size, variant, &emulator));
  return answers;
}

/// Records each form until a signal asks for the end. A form that the driver cannot assemble is skipped with a message; returns how many. A
/// lost GPU ends the run.
std::size_t record_forms(const CaseRunner& gpu, const std::vector<TestedForm>& forms, const Target& target, const RecordOptions& options,
                         Output& output) {
  std::size_t left_out = 0, done = 0;
  Progress progress(forms.size());
  for (const TestedForm& form : forms) {
    if (interruption() != 0) break;
    std::optional<std::vector<Answers>> answers;
    try {
      answers = record_form(gpu, form, target, options);
    } catch (const GpuLost&) {
      output.finish(false, options.limit);
      throw;
    } catch (const std::runtime_error& e) {
      ++left_out;
      fmt::print(stderr, "not recorded: {}: {}\n", form.opcode(), e.what());
    }
    if (answers) output.add(form, std::move(*answers));
    ++done;
    progress.advance();
  }
  output.finish(done == forms.size(), options.limit);
  return left_out;
}

void record_all(const RecordOptions& options) {
  GpuOptions wanted;
  wanted.target = options.target.empty() ? nullptr : &target(options.target);
  const std::unique_ptr<GpuRunner> gpu = open_gpus(wanted);
  const Target& target = wanted.target != nullptr ? *wanted.target : gpu->target();
  const std::vector<TestedForm> selected = selected_forms(target, options.forms), forms = part_of(selected, options.shard);
  if (forms.empty())
    throw std::runtime_error(fmt::format("--shard {}: {} forms cannot be shared by so many", to_string(options.shard), selected.size()));
  Provenance source = provenance(*gpu, target, options.seed);
  source.version = version();
  source.forms = selected.size();
  source.shard = options.shard;
  Output output(options.out.empty() ? file_name(*gpu, options) : options.out, source);
  catch_interruptions();
  const auto start = std::chrono::steady_clock::now();
  const std::unique_ptr<KernelRunner> kernels = open_kernel_gpu();
  const std::size_t left_out = record_forms({*gpu, kernels.get()}, forms, target, options, output);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  fmt::print("{}\n{}\n{} warps a class, {:.1f} s\n", gpu->description(), output.text(), options.size.warps, seconds.count());
  if (interruption() != 0 && !output.complete()) throw Interrupted(interruption(), output.done_text());
  if (left_out != 0) throw std::runtime_error(fmt::format("{} of {} forms were not recorded", left_out, forms.size()));
}

void check(const RecordOptions& options) {
  if (options.out.empty() && !options.all) require_option("--out, or --all,");
  if (options.approximate && options.out.empty()) require_option("--approximate writes a directory: --out");
  if (options.limit != 0 && !options.out.empty() && !options.out.ends_with(file_ending))
    refuse_option("--limit", "is for one file: a place that ends with .jsonl.gz");
}

/// A whole program: an archive of its launches.
void record_launches(const RecordOptions& options) {
  const fs::path program = options.program.words.front();
  const std::string out = options.out.empty() ? program.filename().string() + ".launches" : options.out;
  RecordedProgramOptions recorded = options.program;
  if (options.limit != 0) recorded.limit = options.limit;
  check_output_place(out);
  catch_interruptions();
  const int status = record_program(recorded, out);
  throw_if_interrupted("the program ended early; its launches until then were recorded");
  if (status != 0) throw std::runtime_error(fmt::format("{} ended with status {}", program.string(), status));
}

constexpr const char* record_footer =
    R"(A directory gets a file for each form, a path that ends with .jsonl.gz is one file with everything. The format is described in
docs/use/recording.md; 'warpmat replay' compares the answers with the emulator on any machine, and 'warpmat evidence' says what they prove.
Without --forms, wgmma is left out: its many widths take minutes.
The exit status is 77 without a GPU. Interrupted by SIGINT or SIGTERM, the forms that are done are written, marked incomplete, and the
status is 130 or 143.

Examples:
  warpmat record --all --limit 2MB
  warpmat record --out my_card.jsonl.gz
  warpmat record --out tests/vectors/sm_90 --forms '^mma.*f16'
  warpmat record --out my_card_wgmma.jsonl.gz --forms 'wgmma.*m64n(8|80|256)k'
  warpmat record --all --shard 2/8
  warpmat record --approximate --out my_card_all_operands
  warpmat record --program ask.cu
  warpmat record --limit 2MB --out program.launches -- ./program --size 1024)";

}  // namespace

void add_record(Command app) {
  constexpr std::size_t max_warps = std::size_t{1} << 20;
  const auto options = std::make_shared<RecordOptions>();
  const Command command = add_handed_subcommand(app, "record");
  command.add_option("--out", options->out, "A directory, or a file that ends with .jsonl.gz").type_name("PLACE");
  const CommandOption all =
      command.add_flag("--all", options->all, "Every form of one warp in one file, here and named after the card where --out names none");
  command.add_option("--forms", options->forms, "Only the forms in whose opcode this regular expression is found")
      .type_name("REGEX")
      .excludes(all);
  command.add_option("--limit", options->limit, "Leave out examples until the file is no larger than this, for example 2MB")
      .type_name("SIZE")
      .size_of_bytes();
  add_shard_option(command, options->shard, "evidence");
  command.add_option("--cases", options->size.warps, "Warps for each form and class (default: 256)")
      .type_name("N")
      .range(std::size_t{1}, max_warps);
  command.add_option("--seed", options->seed, "Of the operands (default: 1)").type_name("S");
  command.add_option("--target", options->target, "For example sm_90a (default: what the machine's GPU is)").type_name("T");
  command
      .add_option(
          "--program", options->ask,
          "Write a program instead, which nvcc alone compiles, for a card elsewhere: it prints a text that 'warpmat evidence' reads")
      .type_name("FILE.cu");
  const CommandOption approximate = command.add_flag(
      "--approximate", options->approximate,
      "Instead of the forms the approximate functions of one operand: digests of the answers to all 2^32, for 'warpmat exhaust'");
  for (const char* other : {"--all", "--limit", "--shard", "--cases", "--seed"}) approximate.excludes(command.get_option(other));
  command.footer(record_footer);
  command.words_behind_dashes(options->program.words);
  add_recording_flags(command, options->program);
  command.callback([options] {
    if (!options->ask.empty()) return write_file(options->ask, {ask::ask_program()});
    if (!options->program.words.empty()) return record_launches(*options);
    check(*options);
    if (options->approximate) return record_approximate(options->out, options->forms, options->target);
    record_all(*options);
  });
}

}  // namespace warpmat
