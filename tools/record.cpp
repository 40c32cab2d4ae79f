#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "commands.h"
#include "tools/library/form_selection.h"
#include "gpu/cuda/gpu_runner.h"
#include "gpu/recordings/vectors.h"
#include "tools/library/output_file.h"
#include "tools/library/progress.h"

namespace warpmat {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string out, forms, target;
  RecordingSize size;
  std::uint64_t seed = 1;
};

bool is_file(const Options& options) {
  return options.out.ends_with(".jsonl.gz");
}

Provenance provenance(const GpuRunner& gpu, const Target& target, std::uint64_t seed) {
  const GpuInfo& info = gpu.gpus().front();
  return {.card = info.card,
          .compute_capability = info.compute_capability,
          .driver = info.driver,
          .assembler = info.assembler,
          .target = std::string(target.name),
          .date = fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr))),
          .seed = seed};
}

/// Where answers go: into one file at the end, or into a file for each form as soon as that is complete.
class Output {
 public:
  Output(const Options& options, Provenance provenance) : options_(options) {
    all_.provenance = std::move(provenance);
    std::error_code error;
    if (is_file(options)) {
      check_output_place(options.out);
    } else {
      fs::create_directories(options.out, error);
    }
    if (error) throw std::runtime_error(fmt::format("cannot make the directory {}: {}", options.out, error.message()));
  }

  void add(const Form& form, std::vector<Answers> answers) {
    ++forms_;
    classes_ += answers.size();
    if (is_file(options_)) {
      all_.answers.insert(all_.answers.end(), answers.begin(), answers.end());
    } else {
      write(fs::path(options_.out) / recording_file_name(form), {all_.provenance, std::move(answers)});
    }
  }

  /// Writes what is not written yet. Called also after a failure, so that nothing is lost.
  void finish() {
    if (is_file(options_) && forms_ > 0) write(options_.out, all_);
  }

  std::string text() const {
    return fmt::format("{} forms in {} classes, {} warps each, {} bytes in {}", forms_, classes_, options_.size.warps, bytes_,
                       options_.out);
  }

 private:
  void write(const fs::path& path, const Recording& recording) {
    const std::string bytes = encode(recording);
    bytes_ += bytes.size();
    write_file(path, {bytes});
  }

  const Options& options_;
  Recording all_;
  std::size_t forms_ = 0, classes_ = 0, bytes_ = 0;
};

std::vector<Answers> record_form(Runner& runner, const Form& form, const Target& target, const Options& options) {
  std::vector<Answers> answers;
  for (const OperandClass& operand_class : operand_classes())
    if (applies(operand_class, form))
      for (const int variant : recorded_variants(form, operand_class))
        answers.push_back(record(runner, form, target, operand_class, options.seed, options.size, variant));
  return answers;
}

/// Records each form. One that the driver cannot assemble is left out with a message; returns how many. A lost GPU ends the run.
std::size_t record_forms(GpuRunner& gpu, const std::vector<const Form*>& forms, const Target& target, const Options& options,
                         Output& output) {
  std::size_t left_out = 0;
  Progress progress(forms.size());
  for (const Form* form : forms) {
    std::optional<std::vector<Answers>> answers;
    try {
      answers = record_form(gpu, *form, target, options);
    } catch (const GpuLost&) {
      output.finish();
      throw;
    } catch (const std::runtime_error& e) {
      ++left_out;
      fmt::print(stderr, "not recorded: {}: {}\n", form->opcode, e.what());
    }
    if (answers) output.add(*form, std::move(*answers));
    progress.advance();
  }
  output.finish();
  return left_out;
}

void record_all(const Options& options) {
  GpuOptions wanted;
  wanted.target = options.target.empty() ? nullptr : &target(options.target);
  const std::unique_ptr<GpuRunner> gpu = open_gpus(wanted);
  const Target& target = wanted.target != nullptr ? *wanted.target : gpu->target();
  const std::vector<const Form*> forms = select_forms(target, options.forms);
  Output output(options, provenance(*gpu, target, options.seed));
  const std::size_t left_out = record_forms(*gpu, forms, target, options, output);
  fmt::print("{}\n{}\n", gpu->description(), output.text());
  if (left_out != 0) throw std::runtime_error(fmt::format("{} of {} forms were not recorded", left_out, forms.size()));
}

constexpr const char* footer =
    R"(A directory gets a file for each form, a path that ends with .jsonl.gz is one file with everything. The format is described in
docs/recording.md; 'warpmat replay' compares the answers with the emulator on any machine.
The exit status is 77 without a GPU.

Examples:
  warpmat record --out my_card.jsonl.gz
  warpmat record --out tests/vectors/sm_90 --forms 'mma.*f16')";

}  // namespace

void add_record(CLI::App& app) {
  constexpr std::size_t most_warps = std::size_t{1} << 20;
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("record", "Write down what a GPU makes of generated operands");
  command->add_option("--out", options->out, "A directory, or a file that ends with .jsonl.gz")->required()->type_name("PLACE");
  command->add_option("--forms", options->forms, "Only the forms in whose opcode this regular expression is found")->type_name("REGEX");
  command->add_option("--cases", options->size.warps, "Warps for each form and class (default: 256)")
      ->type_name("N")
      ->check(CLI::Range(std::size_t{1}, most_warps));
  command->add_option("--seed", options->seed, "Of the operands (default: 1)")->type_name("S");
  command->add_option("--target", options->target, "For example sm_90a (default: what the machine's GPU is)")->type_name("T");
  command->footer(footer);
  command->callback([options] { record_all(*options); });
}

}  // namespace warpmat
