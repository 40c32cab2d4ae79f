#include <warpmat/provenance/depth_sets.h>

#include <algorithm>
#include <iterator>

namespace warpmat::provenance {

std::uint32_t DepthSets::number_of(const Intervals& set) {
  const auto [found, is_new] = numbers_.try_emplace(set, static_cast<std::uint32_t>(all_.size()));
  if (is_new) all_.push_back(&found->first);
  return found->second;
}

std::uint32_t DepthSets::with(std::uint32_t number, const std::vector<int>& added, std::optional<int>& twice) {
  std::vector<int> sorted = added;
  std::ranges::sort(sorted);
  Intervals set;
  for (const int k : sorted) {
    if (!set.empty() && set.back().second == k) twice = k;
    if (!set.empty() && set.back().second + 1 >= k)
      set.back().second = k;
    else
      set.emplace_back(k, k);
  }
  return united(number, number_of(set), twice);
}

std::uint32_t DepthSets::united(std::uint32_t a, std::uint32_t b, std::optional<int>& twice) {
  Intervals all;
  std::ranges::merge(*all_[a], *all_[b], std::back_inserter(all));
  Intervals set;
  for (const auto& [first, last] : all) {
    if (!set.empty() && set.back().second >= first) twice = twice.value_or(first);
    if (!set.empty() && set.back().second + 1 >= first)
      set.back().second = std::max(set.back().second, last);
    else
      set.emplace_back(first, last);
  }
  return number_of(set);
}

}  // namespace warpmat::provenance
