#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gpu/cases/shard.h"
#include "tools/gpu/report/run_result.h"

namespace warpmat {

/// The properties of a run's part that merging needs.
struct Part {
  std::string file;  ///< where it was read from, for messages
  Shard shard;
  bool complete = true;
  Properties run{};                  ///< equal in all parts of one run, and different in parts of two
  Properties cases{};                ///< equal in two runs if their cases are the same
  std::vector<std::string> items{};  ///< the items for which the whole run has cases
  Shard::Range range{0, 0};          ///< numbers of the whole run's cases of each
};

/// The parts of each run: indices, in the order of the shards; runs in the order of their first part. Throws std::runtime_error if a part
/// is missing, duplicate, incomplete or from another run, and if two runs share cases, which would count twice.
std::vector<std::vector<std::size_t>> runs_of(const std::vector<Part>& parts);

}  // namespace warpmat
