#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <warpmat/provenance/reads.h>

namespace warpmat::provenance {

/// A launch of which the clusters' reads are known.
struct ReadLaunch {
  const code::Program& program;
  const DeviceMemory& memory;
  std::vector<std::uint64_t> numbers;              ///< rows of matrices may have so many elements
  std::function<std::string(std::uint64_t)> name;  ///< of the buffer with this address, as the kernel's user knows it
  const std::map<std::uint64_t, Reads>& clusters;  ///< by number
  std::int64_t threads = 1;                        ///< of a block, along x
  bool all_clusters = true;
  bool errs = false;  ///< the results are known to be wrong: then what is merely unusual is worth a report, too
};

/// What the elements that a kernel stores are computed from.
struct ReadPattern {
  std::string text;            ///< "each element of y depends on 3 of x"; empty: there is no pattern
  std::vector<Trap> findings;  ///< what does not belong to the pattern, the likeliest fault first
};

/// The elements of one buffer that one line stores are computed from places that depend on their own place: by row and column, in
/// proportion. Those that are not, although their neighbours are, and although the places exist, are findings.
ReadPattern find_pattern(const ReadLaunch& launch);

}  // namespace warpmat::provenance
