#include "tools/gpu/report/run_source.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <ctime>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include <warpmat/version.h>

#include "tools/report/input_file.h"

namespace warpmat {
namespace {

using Json = nlohmann::ordered_json;

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

}  // namespace

std::string today() {
  return fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr)));
}

RunSource run_source(const GpuRunner& gpu, const Target& target, std::uint64_t seed, const Shard& shard) {
  RunSource source;
  source.version = version();
  source.date = today();
  source.target = target.name;
  source.hardware = name(target.hardware);
  source.gpus = gpu.gpus();
  source.seed = seed;
  source.shard = shard;
  return source;
}

Json to_json(const RunSource& source) {
  Json gpus = Json::array();
  for (const GpuInfo& gpu : source.gpus) gpus.push_back(to_json(gpu));
  Json json = {{"warpmat", source.version},
               {"date", source.date},
               {"target", source.target},
               {"hardware", source.hardware},
               {"gpus", gpus},
               {"seed", source.seed},
               {"shard", to_string(source.shard)},
               {"seconds", source.seconds},
               {"complete", source.complete}};
  if (!source.error.empty()) json["error"] = source.error;
  return json;
}

RunSource run_source_of(const Json& json) {
  RunSource source;
  source.version = json.at("warpmat");
  source.date = json.at("date");
  source.target = json.at("target");
  source.hardware = json.at("hardware");
  for (const Json& gpu : json.at("gpus")) source.gpus.push_back(gpu_of(gpu));
  if (source.gpus.empty()) throw std::runtime_error("the run has no GPU");
  source.seed = json.at("seed");
  source.shard = parse_shard(json.value("shard", "1/1"));
  source.seconds = json.at("seconds");
  source.complete = json.at("complete");
  source.error = json.value("error", "");
  return source;
}

Properties properties(const RunSource& source) {
  return {{"version of warpmat", source.version},
          {"target", source.target},
          {"GPU", cards_text(source)},
          {"seed", fmt::format("{}", source.seed)},
          {"number of parts", fmt::format("{}", source.shard.count)}};
}

std::string cards_text(const RunSource& source) {
  std::set<std::string> texts;
  for (const GpuInfo& gpu : source.gpus)
    texts.insert(fmt::format("{}, driver {}, CUDA {}, assembler {}", gpu.card, gpu.driver, gpu.cuda, gpu.assembler));
  return fmt::format("{}", fmt::join(texts, "; "));
}

Json read_json(const std::filesystem::path& path) {
  const std::string text = read_file(path);
  try {
    return Json::parse(text);
  } catch (const Json::exception&) {
    throw std::runtime_error(
        fmt::format("{} is no JSON; 'warpmat diff --json' and 'warpmat fuzz --json' write what is wanted", path.string()));
  }
}

}  // namespace warpmat
