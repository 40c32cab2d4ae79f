#include "tools/gpu/report/run_result.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ctime>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include <warpmat/files/output_file.h>
#include <warpmat/version.h>

#include "gpu/recordings/vectors.h"
#include "tools/gpu/report/merge_shards.h"
#include "tools/report/input_file.h"

namespace warpmat {
namespace {

using Json = nlohmann::ordered_json;

// ---- The file ---------------------------------------------------------------------------------------------------------------------------

Json to_json(const GpuInfo& gpu) {
  return {{"card", gpu.card},
          {"compute_capability", gpu.compute_capability},
          {"driver", gpu.driver},
          {"cuda", gpu.cuda},
          {"assembler", gpu.assembler}};
}

GpuInfo gpu_of(const Json& json) {
  return {json.at("card"), json.at("compute_capability"), json.at("driver"), json.at("cuda"), json.at("assembler")};
}

Json to_json(const Properties& properties) {
  Json json = Json::object();
  for (const auto& [name, text] : properties) json[name] = text;
  return json;
}

Properties properties_of(const Json& json) {
  Properties properties;
  for (const auto& [name, text] : json.items()) properties.emplace_back(name, text);
  return properties;
}

Json to_json(const RunResult& result) {
  Json gpus = Json::array(), rows = Json::array(), totals = Json::object();
  for (const GpuInfo& gpu : result.gpus) gpus.push_back(to_json(gpu));
  for (const std::string& column : result.columns) totals[column] = result.total(column);
  for (const RunResult::Row& row : result.rows) {
    Json& json = rows.emplace_back(Json{{"name", row.name}});
    for (std::size_t i = 0; i < result.columns.size(); ++i) json[result.columns[i]] = row.counts[i];
  }
  Json json = {{"run", result.run},
               {"warpmat", result.version},
               {"date", result.date},
               {"target", result.target},
               {"hardware", result.hardware},
               {"gpus", gpus},
               {"settings", to_json(result.settings)},
               {"amounts", to_json(result.amounts)},
               {"unit", result.unit},
               {"first", result.range.first},
               {"count", result.range.count},
               {"shard", to_string(result.shard)},
               {"seconds", result.seconds},
               {"complete", result.complete}};
  if (!result.error.empty()) json["error"] = result.error;
  json["totals"] = totals;
  json["items"] = result.items;
  json["rows"] = rows;
  return json;
}

RunResult result_of(const Json& json) {
  RunResult result{.run = json.at("run"),
                   .version = json.at("warpmat"),
                   .date = json.at("date"),
                   .target = json.at("target"),
                   .hardware = json.at("hardware"),
                   .settings = properties_of(json.at("settings")),
                   .amounts = properties_of(json.at("amounts")),
                   .unit = json.at("unit"),
                   .range = {json.at("first"), json.at("count")},
                   .items = json.at("items"),
                   .shard = parse_shard(json.at("shard").get<std::string>()),
                   .seconds = json.at("seconds"),
                   .complete = json.at("complete"),
                   .error = json.value("error", "")};
  for (const Json& gpu : json.at("gpus")) result.gpus.push_back(gpu_of(gpu));
  for (const auto& [column, total] : json.at("totals").items()) result.columns.push_back(column);
  if (result.columns.empty()) throw std::runtime_error("it counts nothing");
  for (const Json& row : json.at("rows")) {
    RunResult::Row& added = result.rows.emplace_back(RunResult::Row{row.at("name"), {}});
    for (const std::string& column : result.columns) added.counts.push_back(row.at(column));
  }
  return result;
}

// ---- Its parts --------------------------------------------------------------------------------------------------------------------------

Part part_of(const RunResult& result, const std::string& file) {
  Part part{.file = file, .shard = result.shard, .complete = result.complete, .items = result.items, .range = result.range};
  part.cases = {{"run", result.run}, {"version of warpmat", result.version}, {"target", result.target}, {"GPU", cards_text(result)}};
  part.cases.insert(part.cases.end(), result.settings.begin(), result.settings.end());
  part.run = part.cases;
  part.run.insert(part.run.end(), result.amounts.begin(), result.amounts.end());
  part.run.emplace_back("number of parts", std::to_string(result.shard.count));
  part.run.emplace_back("first of the " + result.unit, std::to_string(result.range.first));
  part.run.emplace_back("number of " + result.unit, std::to_string(result.range.count));
  part.run.emplace_back("columns", fmt::format("{}", fmt::join(result.columns, ", ")));
  part.run.emplace_back("items", digest(fmt::format("{}", fmt::join(result.items, "\n"))));
  return part;
}

/// The run that consists of the parts, its rows in the order of their names. The date is that of the last part; the seconds are the sum.
RunResult merged(const std::vector<const RunResult*>& parts) {
  RunResult all = *parts.front();
  all.shard = {};
  std::map<std::string, std::vector<std::uint64_t>> rows;
  for (const RunResult* part : parts) {
    if (part != parts.front()) all.seconds += part->seconds;
    all.date = std::max(all.date, part->date);
    for (const RunResult::Row& row : part->rows) {
      const auto [sum, added] = rows.emplace(row.name, row.counts);
      if (!added) std::ranges::transform(sum->second, row.counts, sum->second.begin(), std::plus());
    }
  }
  all.rows.clear();
  for (auto& [name, counts] : rows) all.rows.push_back({name, std::move(counts)});
  return all;
}

}  // namespace

std::uint64_t RunResult::total(std::string_view column) const {
  const auto place = static_cast<std::size_t>(std::ranges::find(columns, column) - columns.begin());
  std::uint64_t sum = 0;
  for (const Row& row : rows) sum += row.counts.at(place);
  return sum;
}

std::string RunResult::property(std::string_view name) const {
  for (const Properties* some : {&settings, &amounts})
    for (const auto& [known, text] : *some)
      if (known == name) return text;
  return {};
}

RunResult begun_result(std::string run, const Target* target, const Shard& shard, const GpuRunner* gpu) {
  RunResult result{.run = std::move(run), .version = std::string(version()), .date = today(), .shard = shard};
  if (target != nullptr) {
    result.target = target->name;
    result.hardware = name(target->hardware);
  }
  if (gpu != nullptr) result.gpus = gpu->gpus();
  return result;
}

void end_early(RunResult& result, std::string why) {
  result.complete = false;
  result.error = std::move(why);
}

std::string today() {
  return fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr)));
}

std::string cards_text(const RunResult& result) {
  std::set<std::string> texts;
  for (const GpuInfo& gpu : result.gpus)
    texts.insert(fmt::format("{}, driver {}, CUDA {}, assembler {}", gpu.card, gpu.driver, gpu.cuda, gpu.assembler));
  return fmt::format("{}", fmt::join(texts, "; "));
}

void write_result(const std::filesystem::path& file, const RunResult& result) {
  if (!file.empty()) write_file(file, {to_json(result).dump(1), "\n"});
}

RunResult read_result(const std::filesystem::path& file) {
  const std::string text = read_file(file);
  try {
    return result_of(Json::parse(text));
  } catch (const std::exception& e) {
    throw std::runtime_error(fmt::format("{} is not what --json of a run writes: {}", file.string(), e.what()));
  }
}

std::vector<RunResult> read_whole_runs(const std::vector<std::string>& files) {
  std::vector<RunResult> results;
  std::vector<Part> parts;
  for (const std::string& file : files) {
    results.push_back(read_result(file));
    parts.push_back(part_of(results.back(), file));
  }
  std::vector<RunResult> runs;
  for (const std::vector<std::size_t>& run : runs_of(parts)) {
    std::vector<const RunResult*> of_run;
    for (const std::size_t i : run) of_run.push_back(&results[i]);
    runs.push_back(merged(of_run));
  }
  return runs;
}

Shard::Range share_of(const Shard& shard, std::uint64_t total, std::string_view things) {
  const Shard::Range share = shard.of(total);
  if (share.count == 0)
    throw std::runtime_error(fmt::format("--shard {}: {} {} cannot be shared by so many", to_string(shard), total, things));
  return share;
}

}  // namespace warpmat
