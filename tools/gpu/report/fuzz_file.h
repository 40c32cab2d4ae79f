#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tools/gpu/report/merge_shards.h"
#include "tools/gpu/report/run_source.h"

namespace warpmat {

/// The JSON of `warpmat fuzz --json`, which `warpmat evidence` reads.
struct FuzzFile {
  /// Counts of a run.
  struct Counts {
    std::uint64_t programs = 0, statements = 0, outputs = 0, differing_programs = 0;
  };

  RunSource source;
  std::uint64_t first = 0, programs = 0;  ///< numbers of the programs of the whole run, all its parts together
  std::uint64_t warps = 0;                ///< that ran each program
  std::string kind;                       ///< the drawn programs: equal if programs of one number are equal
  Counts counts;
};

nlohmann::ordered_json to_json(const FuzzFile& fuzz);

/// Throws nlohmann::json::exception or std::exception if `json` is not fuzz's.
FuzzFile fuzz_of(const nlohmann::ordered_json& json);

/// The properties of the run in `file` that merging needs.
Part part_of(const FuzzFile& fuzz, const std::string& file);

/// The run that consists of the parts. The date is that of the last part; the seconds are the sum.
FuzzFile merged(const std::vector<const FuzzFile*>& parts);

}  // namespace warpmat
