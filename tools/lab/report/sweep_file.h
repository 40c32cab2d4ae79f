#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tools/lab/report/merge_shards.h"
#include "tools/lab/report/run_source.h"

namespace warpmat {

/// What `warpmat diff --json` writes of a sweep, and `warpmat evidence` reads.
struct SweepFile {
  /// What was compared of one form and class; of a form where no class is named.
  struct Row {
    std::string form, operand_class;
    std::uint64_t cases = 0, outputs = 0, mismatches = 0;
  };

  RunSource source;
  int generator = 0;                  ///< version of the cases' generator
  std::uint64_t cases_per_class = 0;  ///< of the whole sweep, all its parts together
  std::vector<std::string> forms{};   ///< that were to be compared
  std::vector<Row> rows{};            ///< that were compared, at least in part

  std::uint64_t outputs() const;
  std::uint64_t mismatches() const;
};

nlohmann::ordered_json to_json(const SweepFile& sweep);

/// Throws nlohmann::json::exception or std::exception where `json` is no sweep's.
SweepFile sweep_of(const nlohmann::ordered_json& json);

/// What merging has to know of the sweep that `file` holds.
Part part_of(const SweepFile& sweep, const std::string& file);

/// The sweep that the parts, all of one sweep, are together. The date is that of the last part; the seconds are the sum.
SweepFile merged(const std::vector<const SweepFile*>& parts);

}  // namespace warpmat
