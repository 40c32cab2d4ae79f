#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "gpu/lab/constants/constant_kernels.h"
#include "gpu/lab/constants/constant_runner.h"

namespace warpmat {

/// A result in which the two runners differ.
struct ConstantDifference {
  std::uint64_t tuple = 0;
  unsigned lane = 0;
  std::size_t result = 0;
  std::vector<std::uint64_t> sources;
  std::uint64_t expected = 0, found = 0;
};

/// What the comparison of one case found.
struct ConstantFinding {
  std::string title;
  std::uint64_t outputs = 0, mismatches = 0;
  std::vector<ConstantDifference> examples;  ///< the first ones
  std::uint64_t digest = 0;                  ///< of what `found` answered
  std::string error;                         ///< why it did not run, where it did not
};

/// Of results: for recordings.
std::uint64_t constant_digest(std::span<const std::uint64_t> results);

struct ConstantSweep {
  std::vector<ConstantCase> cases;
  std::uint64_t first = 0;  ///< number of the first tuple
  std::size_t tuples = 200;
  unsigned threads = 1;  ///< each with runners of its own
  const Target* target = nullptr;
  PtxVersion version{9, 0};
  std::size_t max_examples = 4;
  /// What a sweep tells while it runs, by any of its threads, one at a time: so many cases are compared.
  std::function<void(std::uint64_t cases)> advanced = [](std::uint64_t) {};
  std::function<bool()> stop = [] { return false; };  ///< whether to begin nothing more
};

using OpenConstantRunner = std::function<std::unique_ptr<ConstantRunner>()>;

/// Runs every case on both and compares all results. The findings are in the order of the cases.
std::vector<ConstantFinding> run_constant_sweep(const ConstantSweep& sweep, const OpenConstantRunner& expected,
                                                const OpenConstantRunner& found);

}  // namespace warpmat
