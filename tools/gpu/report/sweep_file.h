#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tools/gpu/report/merge_shards.h"
#include "tools/gpu/report/run_source.h"

namespace warpmat {

/// The JSON of a sweep by `warpmat diff --json`, which `warpmat evidence` reads.
struct SweepFile {
  /// The comparisons of one form and class; without a class those of the form.
  struct Row {
    std::string form, operand_class;
    std::uint64_t cases = 0, outputs = 0, mismatches = 0;
  };

  RunSource source;
  int generator = 0;                  ///< version of the cases' generator
  std::uint64_t cases_per_class = 0;  ///< of the whole sweep, all its parts together
  std::vector<std::string> forms{};   ///< the planned forms
  std::vector<Row> rows{};            ///< compared at least partly

  std::uint64_t outputs() const;
  std::uint64_t mismatches() const;
};

nlohmann::ordered_json to_json(const SweepFile& sweep);

/// Throws nlohmann::json::exception or std::exception if `json` is not a sweep's.
SweepFile sweep_of(const nlohmann::ordered_json& json);

/// The properties of the sweep in `file` that merging needs.
Part part_of(const SweepFile& sweep, const std::string& file);

/// The sweep that consists of the parts. The date is that of the last part; the seconds are the sum.
SweepFile merged(const std::vector<const SweepFile*>& parts);

}  // namespace warpmat
