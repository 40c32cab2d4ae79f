#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <warpmat/files/output_file.h>
#include "commands.h"

#include "gpu/compare/self_contained.h"
#include "gpu/cuda/gpu_runner.h"
#include "gpu/lab/mutants/distinguish.h"
#include "tools/command_line/handed_commands.h"
#include "tools/gpu/report/form_selection.h"
#include "tools/gpu/report/mismatch_text.h"
#include "tools/lab/report/coverage.h"
#include "tools/lab/report/tensor_program.h"
#include "tools/report/pattern.h"

namespace warpmat {
namespace {

using Json = nlohmann::ordered_json;

struct DistinguishOptions {
  std::string first, second, target = "sm_90a", forms, json, out = ".";
  std::size_t cases = 512;
  std::uint64_t seed = 1;
  bool each = false, gpu = false, tensor = false;
};

std::string hex(Format format, std::uint64_t bits) {
  return fmt::format("{:#0{}x}", bits, 2 + (row(format).bits + 3) / 4);
}

std::string both(Format format, std::uint64_t bits) {
  return fmt::format("{} ({})", hex(format, bits), value_text(format, bits));
}

/// A form with operands that distinguish the models, and the card's answer.
struct Finding {
  Distinction distinction;
  std::filesystem::path file;
  std::optional<WarpStates> card;  ///< the card's answer
  std::string verdict;             ///< with a card: "as FIRST", "as SECOND", "as neither"
};

// ---- In words ---------------------------------------------------------------------------------------------------------------------------

/// "A[0] = 2^-12, A[5] = 2^-24": the elements that are not +0; "A = 0" if there are none.
std::string list_text(std::string_view name, Format format, const std::vector<std::uint64_t>& bits) {
  std::string text;
  for (std::size_t i = 0; i < bits.size(); ++i)
    if (bits[i] != 0) text += fmt::format("{}{}[{}] = {}", text.empty() ? "" : ", ", name, i, value_text(format, bits[i]));
  return text.empty() ? fmt::format("{} = 0", name) : text;
}

std::string operands_text(const Distinction& d) {
  const ResultOperands operands = operands_of(d);
  return fmt::format("{}; {}; C = {}", list_text("A", d.form->format(OperandName::a), operands.a),
                     list_text("B", d.form->format(OperandName::b), operands.b), value_text(d.form->format(OperandName::c), operands.c));
}

std::string place_text(const Element& e) {
  return e.matrix == 0 ? fmt::format("row {}, column {}", e.row, e.column)
                       : fmt::format("row {}, column {} of product {}", e.row, e.column, e.matrix);
}

std::string answer_text(const Distinction& d, const WarpStates& states) {
  return both(d.form->format(OperandName::d), result_bits(d, states));
}

/// The regions that `events` counts more often than `other`: those that only one model reaches.
std::string regions_text(const Events& events, const Events& other) {
  std::string text;
  for (std::size_t i = 0; i < event_count; ++i) {
    const auto event = static_cast<Event>(i);
    for (std::size_t number = 0; number < numbers_of(event); ++number)
      if (events.count(event, number) > other.count(event, number)) text += (text.empty() ? "" : ", ") + region_name(event, number);
  }
  return text.empty() ? "none" : text;
}

/// `name` is that of the form, or of the product of whose tiles the form is one.
std::string report(const Finding& finding, const Question& question, const std::string& name) {
  const Distinction& d = finding.distinction;
  std::string text = fmt::format("{}\n{} of D: {}\n", name, place_text(d.element), operands_text(d));
  text += fmt::format("{}: {}\n{}: {}\n", question.first.text(), answer_text(d, d.by_first), question.second.text(),
                      answer_text(d, d.by_second));
  if (question.first.deviations.empty() && question.second.deviations.empty()) {
    text += fmt::format("regions that only {} reaches: {}\n", question.first.text(), regions_text(d.events_of_first, d.events_of_second));
    text += fmt::format("regions that only {} reaches: {}\n", question.second.text(), regions_text(d.events_of_second, d.events_of_first));
  }
  if (finding.card) text += fmt::format("the card: {}, {}\n", answer_text(d, *finding.card), finding.verdict);
  return text;
}

// ---- Files ------------------------------------------------------------------------------------------------------------------------------

std::filesystem::path file_of(const DistinguishOptions& options, std::size_t number) {
  return std::filesystem::path(options.out) / fmt::format("distinguish_{}.ptx", number);
}

void write_program(const Finding& finding, const Question& question) {
  const Distinction& d = finding.distinction;
  const std::string usage = fmt::format("// found in {}\n// warpmat run {} --print 0.d\n// warpmat diff {} --warps 1\n", d.found_in,
                                        finding.file.filename().string(), finding.file.filename().string());
  write_file(finding.file, {commented(report(finding, question, d.form->opcode)), usage, self_contained(d.program, d.initial, 0, 0)});
}

Json elements_json(Format format, const std::vector<std::uint64_t>& bits) {
  Json all = Json::array();
  for (const std::uint64_t element : bits) all.push_back(hex(format, element));
  return all;
}

Json to_json(const Finding& finding) {
  const Distinction& d = finding.distinction;
  const ResultOperands operands = operands_of(d);
  const Format format = d.form->format(OperandName::d);
  Json json = {{"form", d.form->opcode},
               {"file", finding.file.string()},
               {"found_in", d.found_in},
               {"row", d.element.row},
               {"column", d.element.column},
               {"product", d.element.matrix},
               {"a", elements_json(d.form->format(OperandName::a), operands.a)},
               {"b", elements_json(d.form->format(OperandName::b), operands.b)},
               {"c", hex(d.form->format(OperandName::c), operands.c)},
               {"operands", operands_text(d)},
               {"first", hex(format, result_bits(d, d.by_first))},
               {"second", hex(format, result_bits(d, d.by_second))}};
  if (finding.card) {
    json["card"] = hex(format, result_bits(d, *finding.card));
    json["verdict"] = finding.verdict;
  }
  return json;
}

// ---- The command ------------------------------------------------------------------------------------------------------------------------

/// Asks the card. All of its answer must be that of a model, not only the element in question.
void ask(GpuRunner& gpu, Finding& finding) {
  const Distinction& d = finding.distinction;
  finding.card = d.initial;
  gpu.run(d.program, *finding.card);
  finding.verdict = *finding.card == d.by_first ? "as the first" : *finding.card == d.by_second ? "as the second" : "as neither";
}

/// Why `variant` does not apply to `form` on the target; nothing if it does.
std::optional<std::string> refusal(const Form& form, const Target& target, const ModelVariant& variant) {
  try {
    VariedLowering(form, *find_lowering(form, target.hardware), variant);
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return std::nullopt;
}

/// The selected forms that both models can execute. Throws std::runtime_error if there is none, with the reason for the first.
std::vector<const Form*> common_forms(const std::vector<const Form*>& selected, const Question& question) {
  std::vector<const Form*> common;
  std::string reason;
  for (const Form* form : selected) {
    if (form->mnemonic != Mnemonic::mma) continue;
    auto why = refusal(*form, *question.target, question.first);
    if (!why) why = refusal(*form, *question.target, question.second);
    if (!why)
      common.push_back(form);
    else if (reason.empty())
      reason = *why;
  }
  if (common.empty()) throw std::runtime_error(reason.empty() ? "only forms of mma have models of arithmetic" : reason);
  return common;
}

void write_json(const DistinguishOptions& options, const Question& question, const std::vector<Finding>& findings, const GpuRunner* gpu) {
  Json json = {{"first", question.first.text()},  {"second", question.second.text()},
               {"target", question.target->name}, {"cases", question.cases},
               {"seed", question.seed},           {"card", gpu == nullptr ? Json() : Json(gpu->description())}};
  json["findings"] = Json::array();
  for (const Finding& finding : findings) json["findings"].push_back(to_json(finding));
  write_file(options.json, {json.dump(1) + "\n"});
}

void find_operands(const DistinguishOptions& options) {
  const Question question{&target(options.target), parse_variant(options.first), parse_variant(options.second), options.cases,
                          options.seed};
  if (question.first.text() == question.second.text()) throw std::runtime_error("the two models are the same");
  const std::vector<const Form*> forms = common_forms(select_forms(*question.target, options.forms), question);
  check_output_place(file_of(options, 1));
  if (!options.json.empty()) check_output_place(options.json);
  const std::unique_ptr<GpuRunner> gpu = options.gpu ? open_gpus({question.target}) : nullptr;
  std::vector<Finding> findings;
  for (const Form* form : forms) {
    auto found = distinguish(*form, question);
    if (!found) continue;
    Finding finding{std::move(*found), file_of(options, findings.size() + 1), std::nullopt, {}};
    if (gpu != nullptr) ask(*gpu, finding);
    write_program(finding, question);
    fmt::print("{}{}\n\n", report(finding, question, form->opcode), finding.file.string());
    findings.push_back(std::move(finding));
    if (!options.each) break;
  }
  if (!options.json.empty()) write_json(options, question, findings, gpu.get());
  if (findings.empty())
    throw std::runtime_error(fmt::format("no operands found on which {} and {} differ, in {} cases of each class of {} form{}",
                                         question.first.text(), question.second.text(), question.cases, forms.size(),
                                         forms.size() == 1 ? "" : "s"));
  if (options.each) fmt::print("{} of {} forms tell the two models apart\n", findings.size(), forms.size());
}

/// Operands of products of tcgen05.mma: all in one program for a card.
void find_tensor_operands(const DistinguishOptions& options) {
  const Question question{&target(target_of_tensor_tiles), parse_variant(options.first), parse_variant(options.second), options.cases,
                          options.seed};
  if (question.first.text() != "table") throw std::runtime_error("with --tcgen05 FIRST is 'table': what the tables say of tcgen05.mma");
  if (question.second.text() == "table") throw std::runtime_error("the two models are the same");
  const std::filesystem::path file = std::filesystem::path(options.out) / "distinguish.cu";
  check_output_place(file);
  const Pattern wanted(options.forms);
  std::vector<TensorQuestion> questions;
  std::string reason = fmt::format("no product of tcgen05.mma matches '{}'", options.forms);
  for (const TensorProductRow& row : tensor_product_rows()) {
    if (!wanted.found_in(row.name()) || (!options.each && !questions.empty())) continue;
    try {
      auto found = distinguish(row, question.second, question.second.text(), options.cases, options.seed);
      reason =
          fmt::format("no operands found on which table and {} differ, in {} cases of each class", question.second.text(), options.cases);
      if (!found) continue;
      fmt::print("{}\n", report({std::move(found->distinction), file, std::nullopt, {}}, question, row.name()));
      questions.push_back(std::move(found->question));
    } catch (const std::invalid_argument& e) {
      reason = e.what();
    }
  }
  if (questions.empty()) throw std::runtime_error(reason);
  write_file(file, {tensor_program(questions, file.filename().string(), "warpmat distinguish --tcgen05")});
  fmt::print("{}: {} question{} for a card of compute capability 10.0\n", file.string(), questions.size(),
             questions.size() == 1 ? "" : "s");
}

/// The names from which MODEL is composed.
std::string vocabulary() {
  std::string text = "Models: table";
  for (const DotModel* model : dot_models_in_use()) text += fmt::format(", {}", model->name);
  text += "\nConstants:";
  for (const ModelColumn& column : model_columns()) text += fmt::format(" {}", column.name);
  text += "\nDeviations:\n";
  for (const DeviationRow& row : deviation_rows()) text += fmt::format("  {:32} {}\n", row.name, row.summary);
  return text;
}

constexpr const char* distinguish_footer =
    R"(A MODEL is a row of the model table, or 'table' for what the lowering table says of each form, and behind a colon what is otherwise:
MODEL:CONSTANT=NUMBER,DEVIATION,... Each program sets its own registers, says at its top what each model answers, and needs no input.
The exit status is 0 if operands were found, 1 if not, and 77 with --gpu where there is no GPU of the target's hardware.

Examples:
  warpmat distinguish hopper ampere
  warpmat distinguish hopper hopper:floor_f16=-22 --forms 'f16.f16.f16.f16' --each
  warpmat distinguish table table:zero_terms_aligned --forms tf32 --gpu --json answers.json
  warpmat distinguish table table:clamped_each_product --forms s8
  warpmat distinguish table table:fraction_bits=24 --tcgen05 --forms 'kind::f16 f32' --each)";

}  // namespace

void add_distinguish(Command app) {
  const auto options = std::make_shared<DistinguishOptions>();
  const Command command = add_handed_subcommand(app, "distinguish");
  command.add_option("FIRST", options->first, "A model: see below").required().type_name("MODEL");
  command.add_option("SECOND", options->second, "Another").required().type_name("MODEL");
  command.add_option("--target", options->target, "Whose forms and lowerings (default: sm_90a)");
  command.add_option("--forms", options->forms, "Only the forms in whose opcode this regular expression is found");
  command.add_flag("--each", options->each, "A program for each form that tells the models apart, not for the first alone");
  command.add_option("--cases", options->cases, "Warps of each class of operands to try (default: 512)").range(1, 1 << 20);
  command.add_option("--seed", options->seed, "Of the operands (default: 1)");
  command.add_option("--out", options->out, "Directory for distinguish_1.ptx and those after it (default: this one)")
      .type_name("DIRECTORY");
  command.add_flag("--gpu", options->gpu, "Run each program on this machine's GPU and say which model it follows");
  command.add_option("--json", options->json, "Write operands and answers to this file").type_name("FILE.json");
  command.footer(vocabulary() + "\n" + distinguish_footer);
  const CommandOption tensor = command.add_flag(
      "--tcgen05", options->tensor,
      "Of products of tcgen05.mma, whose names --forms selects; --out gets distinguish.cu, a program that asks a card of sm_100");
  for (const char* other : {"--target", "--gpu", "--json"}) tensor.excludes(command.get_option(other));
  command.callback([options] { options->tensor ? find_tensor_operands(*options) : find_operands(*options); });
}

}  // namespace warpmat
