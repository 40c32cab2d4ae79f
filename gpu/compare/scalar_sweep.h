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

/// An element that differs between GPU and library.
struct ScalarDifference {
  std::uint64_t element;
  std::size_t result;  ///< its index among the results
  std::vector<std::uint64_t> sources;
  std::uint64_t expected, found;  ///< the library's and the GPU's
};

/// The result of comparing one case in one class.
struct ScalarFinding {
  std::string title;
  ScalarClass operand_class;
  std::uint64_t outputs = 0, mismatches = 0;
  std::vector<ScalarDifference> examples;  ///< the first ones
  std::uint64_t digest = 0;                ///< of the GPU's results of the first `digest_count` elements
  std::string error;                       ///< why the GPU did not run it, if it did not
};

/// The number of elements in recorded digests: few, so that the test suite can draw and compute them again.
inline constexpr std::size_t scalar_digest_count = 1024;

/// FNV-1a of the results' first elements, low bytes first.
std::uint64_t scalar_digest(const ScalarCase& shown, const ScalarResults& results, std::size_t count);

/// The digest of a case over all classes, from the classes' digests in order.
std::uint64_t combine_digests(std::span<const std::uint64_t> of_classes);

/// For each case the digest over all classes of this library's results; a recording holds the same of a GPU.
std::vector<std::uint64_t> scalar_digests(std::span<const ScalarCase> cases);

struct ScalarSweep {
  std::vector<ScalarCase> cases;
  std::uint64_t first = 0;                   ///< number of the first element of each class
  std::size_t count = std::size_t{1} << 20;  ///< elements of each class, a multiple of 256
  unsigned threads = 1;                      ///< each with a GPU object of its own
};

/// Callbacks of a sweep, called by any of its threads, one at a time.
struct ScalarObserver {
  /// this many more elements of one class of one case are compared
  std::function<void(std::uint64_t elements)> advanced = [](std::uint64_t) {};
  std::function<bool()> stop = [] { return false; };  ///< whether to begin nothing more
};

/// Runs every case in every class on `open()`'s GPUs and with this library, in rounds of at most a million elements of all cases. The
/// findings are in the order of cases and classes.
std::vector<ScalarFinding> run_scalar_sweep(const ScalarSweep& sweep, const std::function<std::unique_ptr<ScalarGpu>()>& open,
                                            const ScalarObserver& observer = {});

}  // namespace warpmat
