#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace warpmat::provenance {

/// Sets of k, each with a number; 0 is the empty one.
class DepthSets {
 public:
  using Intervals = std::vector<std::pair<int, int>>;  ///< first and last, in order, not adjacent

  const Intervals& operator[](std::uint32_t number) const { return *all_[number]; }
  /// The number of the set with these besides. `twice` becomes one that it has already.
  std::uint32_t with(std::uint32_t number, const std::vector<int>& added, std::optional<int>& twice);
  std::uint32_t united(std::uint32_t a, std::uint32_t b, std::optional<int>& twice);

  DepthSets() { number_of({}); }

 private:
  std::uint32_t number_of(const Intervals& set);
  std::map<Intervals, std::uint32_t> numbers_;
  std::vector<const Intervals*> all_;
};

}  // namespace warpmat::provenance
