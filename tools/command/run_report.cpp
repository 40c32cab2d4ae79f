#include "run_report.h"

#include <warpmat/files/output_file.h>
#include <warpmat/forms.h>
#include <warpmat/ir/code.h>
#include <warpmat/version.h>
#include <warpmat/wgmma.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/report/compared_results.h"

namespace warpmat {
namespace {

using Json = nlohmann::ordered_json;

Json instruction_json(const std::string& opcode, std::uint64_t executed, const Target& target, const std::vector<Labelled>& all) {
  Json json{{"opcode", opcode}, {"executed", executed}};
  const auto known = std::ranges::find(all, opcode, &Labelled::what);
  if (known == all.end()) return json;
  json["label"] = name(known->label);
  json["source"] = known->source;
  const auto add_matrix = [&](const std::string& machine, std::uint64_t compared) {
    json["machine"] = machine;
    json["compared"] = known->label == Label::measured ? Json(compared) : Json(nullptr);
  };
  if (const Form* form = find_form(opcode))
    add_matrix(machine_name(*form, *find_lowering(*form, target.hardware)), compared_results(*form));
  if (const WgmmaForm* form = find_wgmma(opcode)) add_matrix(std::string(lowering_of(*form).machine), compared_results_of_wgmma);
  return json;
}

/// The options that were given, with their values.
Json options_json(const Command& command) {
  Json json = Json::object();
  for (const auto& [name, values] : command.given()) json[name] = values;
  return json;
}

}  // namespace

void OpcodeCounts::operation(const machine::Event& event) {
  if (!event.prepares()) ++counts_[std::string(event.opcode())];
}

void add_report_option(Command command, std::string& path) {
  command
      .add_option("--report", path, "Write what ran as JSON: each instruction, how often, its machine instructions, how its bits are known")
      .type_name("FILE.json");
}

void write_report(const std::string& path, const Command& command, std::string_view target, const std::vector<Labelled>& all,
                  const std::map<std::string, std::uint64_t>& counts) {
  if (path.empty()) return;
  Json instructions = Json::array();
  for (const auto& [opcode, executed] : counts) instructions.push_back(instruction_json(opcode, executed, warpmat::target(target), all));
  const Json json{{"warpmat", version()},
                  {"command", command.name()},
                  {"target", target},
                  {"options", options_json(command)},
                  {"instructions", std::move(instructions)}};
  write_file(path, {json.dump(1), "\n"});
}

}  // namespace warpmat
