#include "tools/library/run_report.h"

#include <warpmat/ptx/program/code.h>
#include <warpmat/version.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/library/output_file.h"

namespace warpmat {
namespace {

using Json = nlohmann::ordered_json;

Json instruction_json(const std::string& opcode, std::uint64_t executed, const std::vector<Labelled>& matrix) {
  Json json{{"opcode", opcode}, {"executed", executed}};
  const auto known = std::ranges::find(matrix, opcode, &Labelled::opcode);
  if (known == matrix.end()) return json;  // docs/numerics.md says how scalar instructions are known
  const Lowering& lowering = *known->lowering;
  const Label label = label_of(lowering);
  const Form* const form = find_form(opcode);
  json["machine"] = form != nullptr ? machine_name(*form, lowering) : std::string(lowering.machine);
  json["label"] = name(label);
  json["source"] = lowering.source;
  json["compared"] = label == Label::measured ? Json(known->compared) : Json(nullptr);
  return json;
}

/// The options that were given, with their values.
Json options_json(const CLI::App& command) {
  Json json = Json::object();
  for (const CLI::Option* option : command.get_options())
    if (option->count() > 0) json[option->get_name()] = option->results();
  return json;
}

}  // namespace

void OpcodeCounts::operation(const machine::Event& event) {
  ++counts_[std::string(event.program.statements[event.operation.statement]->opcode)];
  if (next_ != nullptr) next_->operation(event);
}

void OpcodeCounts::access(const machine::AccessEvent& event) {
  if (next_ != nullptr) next_->access(event);
}

void add_report_option(CLI::App& command, std::string& path) {
  command
      .add_option("--report", path, "Write what ran as JSON: each instruction, how often, its machine instructions, how its bits are known")
      ->type_name("FILE.json");
}

void write_report(const std::string& path, const CLI::App& command, std::string_view target, const std::vector<Labelled>& matrix,
                  const std::map<std::string, std::uint64_t>& counts) {
  if (path.empty()) return;
  Json instructions = Json::array();
  for (const auto& [opcode, executed] : counts) instructions.push_back(instruction_json(opcode, executed, matrix));
  const Json json{{"warpmat", version()},
                  {"command", command.get_name()},
                  {"target", target},
                  {"options", options_json(command)},
                  {"instructions", std::move(instructions)}};
  write_file(path, {json.dump(1), "\n"});
}

}  // namespace warpmat
