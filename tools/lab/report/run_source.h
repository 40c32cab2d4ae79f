#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "gpu/cases/shard.h"
#include "gpu/cuda/gpu_runner.h"

namespace warpmat {

/// Where the figures of a run on GPUs come from, and which part of the run they are: what the JSON of `diff` and that of `fuzz` have in
/// common.
struct RunSource {
  std::string version;  ///< of warpmat
  std::string date;     ///< UTC: "2026-11-21"
  std::string target, hardware;
  std::vector<GpuInfo> gpus;  ///< at least one
  std::uint64_t seed = 0;
  Shard shard;
  double seconds = 0;
  bool complete = true;  ///< whether everything that was planned has been compared
  std::string error;     ///< why not; empty where it is complete
};

/// The source of a run that begins now.
RunSource run_source(const GpuRunner& gpu, const Target& target, std::uint64_t seed, const Shard& shard);

/// "2026-11-21", UTC.
std::string today();

/// The keys of a run's JSON that its source makes.
nlohmann::ordered_json to_json(const RunSource& source);

/// The inverse; other keys are ignored, and a missing "shard" is the whole run. Throws nlohmann::json::exception or std::exception.
RunSource run_source_of(const nlohmann::ordered_json& json);

/// A text for each property that must be equal in all parts of one run, with its name: ("seed", "1"). How many cards of one kind took part,
/// the date and the time it took may differ.
using Properties = std::vector<std::pair<std::string, std::string>>;
Properties properties(const RunSource& source);

/// "NVIDIA H200, driver 580.159.04, CUDA 13.0, assembler …" of each different GPU.
std::string cards_text(const RunSource& source);

/// The JSON that a file holds. Throws std::runtime_error naming the file where there is none.
nlohmann::ordered_json read_json(const std::filesystem::path& path);

}  // namespace warpmat
