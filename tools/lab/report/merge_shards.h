#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/lab/report/run_source.h"

namespace warpmat {

/// A part of a run, as far as putting parts together is concerned.
struct Part {
  std::string file;  ///< where it was read from, for messages
  Shard shard;
  bool complete = true;
  Properties run{};                  ///< equal in all parts of one run, and different in parts of two
  Properties cases{};                ///< that two runs must have in common for their cases to be the same
  std::vector<std::string> items{};  ///< what the whole run has cases of
  Shard::Range range{0, 0};          ///< numbers of the cases that the whole run has of each
};

/// The parts of each run: indices, in the order of the shards; runs in the order of their first part. Throws std::runtime_error where
/// a part is missing, there twice, incomplete or of another run, and where two runs have cases in common, which would count twice.
std::vector<std::vector<std::size_t>> runs_of(const std::vector<Part>& parts);

}  // namespace warpmat
