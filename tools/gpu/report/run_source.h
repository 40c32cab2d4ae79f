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

/// The origin of a run's figures on GPUs, and the part of the run: common to the JSON of `diff` and `fuzz`.
struct RunSource {
  std::string version;  ///< of warpmat
  std::string date;     ///< UTC: "2026-11-21"
  std::string target, hardware;
  std::vector<GpuInfo> gpus;  ///< at least one
  std::uint64_t seed = 0;
  Shard shard;
  double seconds = 0;
  bool complete = true;  ///< whether everything planned has been compared
  std::string error;     ///< why not; empty if it is complete
};

/// The source of a run that begins now.
RunSource run_source(const GpuRunner& gpu, const Target& target, std::uint64_t seed, const Shard& shard);

/// "2026-11-21", UTC.
std::string today();

/// The keys of a run's JSON for its source.
nlohmann::ordered_json to_json(const RunSource& source);

/// The inverse; other keys are ignored, and a missing "shard" is the whole run. Throws nlohmann::json::exception or std::exception.
RunSource run_source_of(const nlohmann::ordered_json& json);

/// A text for each property that must be equal in all parts of one run, with its name: ("seed", "1"). The number of cards of one kind, the
/// date and the duration may differ.
using Properties = std::vector<std::pair<std::string, std::string>>;
Properties properties(const RunSource& source);

/// "NVIDIA H200, driver 580.159.04, CUDA 13.0, assembler …" of each different GPU.
std::string cards_text(const RunSource& source);

/// The JSON in a file. Throws std::runtime_error naming the file if it has none.
nlohmann::ordered_json read_json(const std::filesystem::path& path);

}  // namespace warpmat
