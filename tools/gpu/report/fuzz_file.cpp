#include "tools/gpu/report/fuzz_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace warpmat {

using Json = nlohmann::ordered_json;

Json to_json(const FuzzFile& fuzz) {
  Json json = to_json(fuzz.source);
  json["fuzz"] = fuzz.kind;
  json["first_program"] = fuzz.first;
  json["programs"] = fuzz.programs;
  json["warps"] = fuzz.warps;
  json["run"] = {{"programs", fuzz.counts.programs},
                 {"statements", fuzz.counts.statements},
                 {"outputs", fuzz.counts.outputs},
                 {"differing_programs", fuzz.counts.differing_programs}};
  return json;
}

FuzzFile fuzz_of(const Json& json) {
  const Json& run = json.at("run");
  return {.source = run_source_of(json),
          .first = json.at("first_program"),
          .programs = json.at("programs"),
          .warps = json.at("warps"),
          .kind = json.at("fuzz"),
          .counts = {run.at("programs"), run.at("statements"), run.at("outputs"), run.at("differing_programs")}};
}

Part part_of(const FuzzFile& fuzz, const std::string& file) {
  Part part{.file = file, .shard = fuzz.source.shard, .complete = fuzz.source.complete, .range = {fuzz.first, fuzz.programs}};
  const std::pair<std::string, std::string> kind{"programs", fuzz.kind}, warps{"warps", std::to_string(fuzz.warps)};
  part.run = properties(fuzz.source);
  part.run.insert(part.run.end(), {kind, warps});
  part.run.emplace_back("first program", std::to_string(fuzz.first));
  part.run.emplace_back("number of programs", std::to_string(fuzz.programs));
  part.cases = properties(fuzz.source);
  part.cases.back() = kind;  // replaces the number of parts
  part.items = {"programs"};
  return part;
}

FuzzFile merged(const std::vector<const FuzzFile*>& parts) {
  FuzzFile all = *parts.front();
  all.source.shard = {};
  for (const FuzzFile* part : std::vector(parts.begin() + 1, parts.end())) {
    all.source.seconds += part->source.seconds;
    all.source.date = std::max(all.source.date, part->source.date);
    all.counts.programs += part->counts.programs;
    all.counts.statements += part->counts.statements;
    all.counts.outputs += part->counts.outputs;
    all.counts.differing_programs += part->counts.differing_programs;
  }
  return all;
}

}  // namespace warpmat
