#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gpu/cases/shard.h"
#include "gpu/cuda/gpu_runner.h"

namespace warpmat {

/// Texts with their names: ("seed", "1").
using Properties = std::vector<std::pair<std::string, std::string>>;

/// What a run has counted, or the part of it that --shard names. Every command with --shard writes it by --json, `warpmat merge` adds parts
/// up, and `warpmat evidence` makes its page of it.
struct RunResult {
  /// Counts of one thing, in the order of the columns.
  struct Row {
    std::string name;
    std::vector<std::uint64_t> counts;
  };

  std::string run;              ///< what ran: "fuzz --kernels"
  std::string version;          ///< of warpmat
  std::string date;             ///< UTC: "2026-11-21"
  std::string target{};         ///< empty if the run has none
  std::string hardware{};       ///< of the target
  std::vector<GpuInfo> gpus{};  ///< none if no GPU took part

  Properties settings{};             ///< what else decides the cases
  Properties amounts{};              ///< what is done with each case: runs of the same cases may differ in it
  std::string unit{};                ///< what `range` counts: "programs"
  Shard::Range range{0, 0};          ///< numbers of the whole run's cases of each item
  std::vector<std::string> items{};  ///< that have these cases, of the whole run

  std::vector<std::string> columns{};  ///< names of the counts; the last one counts what is wrong
  std::vector<Row> rows{};             ///< of what was done at least partly

  Shard shard{};
  double seconds = 0;
  bool complete = true;  ///< whether everything planned was done
  std::string error{};   ///< why not

  std::uint64_t total(std::string_view column) const;
  std::uint64_t wrong() const { return total(columns.back()); }

  /// The text of a setting or an amount; empty if there is none.
  std::string property(std::string_view name) const;
};

/// The result of a run that begins now.
RunResult begun_result(std::string run, const Target* target, const Shard& shard, const GpuRunner* gpu = nullptr);

/// Says that the run ended early, and why.
void end_early(RunResult& result, std::string why);

/// "2026-11-21", UTC.
std::string today();

/// "NVIDIA H200, driver 580.159.04, CUDA 13.0, assembler …" of each different GPU.
std::string cards_text(const RunResult& result);

/// Writes the file, unless its name is empty.
void write_result(const std::filesystem::path& file, const RunResult& result);

/// Throws std::runtime_error naming the file if it holds none.
RunResult read_result(const std::filesystem::path& file);

/// The whole runs whose parts these files are. Throws std::runtime_error as runs_of() does.
std::vector<RunResult> read_whole_runs(const std::vector<std::string>& files);

/// This part's share of `total` things. Throws std::runtime_error naming the things if there are too few.
Shard::Range share_of(const Shard& shard, std::uint64_t total, std::string_view things);

}  // namespace warpmat
