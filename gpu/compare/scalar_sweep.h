#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "gpu/runners/scalar_runner.h"

namespace warpmat {

/// An element in which GPU and library differ.
struct ScalarDifference {
  std::uint64_t element;
  std::size_t result;  ///< its place among the results
  std::vector<std::uint64_t> sources;
  std::uint64_t expected, found;  ///< the library's and the GPU's
};

/// What the comparison of one case in one class found. Where the sweep was stopped before it, there are neither outputs nor an error.
struct ScalarFinding {
  std::string title;
  ScalarClass operand_class;
  std::uint64_t outputs = 0, mismatches = 0;
  std::vector<ScalarDifference> examples;  ///< the first ones
  std::uint64_t digest = 0;                ///< of the GPU's results of the first `digest_count` elements
  std::string error;                       ///< why the GPU did not run it, where it did not
};

/// Elements that recorded digests are about: few, so that the test suite can draw and compute them again.
inline constexpr std::size_t scalar_digest_count = 1024;

/// FNV-1a of the results' first elements, low bytes first.
std::uint64_t scalar_digest(const ScalarCase& shown, const ScalarResults& results, std::size_t count);

/// The digest of a case over all classes, from those of the classes in their order.
std::uint64_t combine_digests(std::span<const std::uint64_t> of_classes);

/// For each case the digest over all classes of what this library gives: what a recording of a GPU's answers holds.
std::vector<std::uint64_t> scalar_digests(std::span<const ScalarCase> cases);

struct ScalarSweep {
  std::vector<ScalarCase> cases;
  std::size_t count = std::size_t{1} << 20;  ///< elements of each class
  unsigned threads = 1;                      ///< each with a GPU object of its own
};

struct ScalarSweepObserver {
  std::function<void(const ScalarFinding&)> found = [](const ScalarFinding&) {};  ///< one case in one class; from one thread at a time
  std::function<bool()> stop = [] { return false; };                              ///< asked before each, from any thread
};

/// Runs every case in every class on `open()`'s GPUs and with this library, until the observer stops that. The findings are in the order of
/// cases and classes.
std::vector<ScalarFinding> run_scalar_sweep(const ScalarSweep& sweep, const std::function<std::unique_ptr<ScalarGpu>()>& open,
                                            const ScalarSweepObserver& observer = {});

}  // namespace warpmat
