#include "gpu/compare/compare_kernels.h"

#include <algorithm>
#include <sstream>

#include <warpmat/warp.h>

namespace warpmat {
namespace {

std::vector<std::string> sorted_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  std::ranges::sort(lines);
  return lines;
}

}  // namespace

bool same_printed(const LaunchConfig& config, const std::string& expected, const std::string& found) {
  const bool one_warp = config.grid.count() * config.block.count() <= static_cast<std::uint64_t>(warp_size);
  return expected == found || (!one_warp && sorted_lines(expected) == sorted_lines(found));
}

KernelComparison compare_kernels(const KernelLaunch& launch, const KernelAnswer& expected, const KernelAnswer& found,
                                 std::size_t max_differences) {
  KernelComparison comparison;
  for (std::size_t b = 0; b < launch.buffers.size(); ++b) {
    const auto& left = expected.buffers[b];
    const auto& right = found.buffers[b];
    comparison.bytes += left.size();
    for (std::size_t i = 0; i < left.size(); ++i) {
      if (left[i] == right[i]) continue;
      if (comparison.mismatches++ < max_differences) comparison.differences.push_back({b, i, left[i], right[i]});
    }
  }
  comparison.same_text = same_printed(launch.config, expected.printed, found.printed);
  return comparison;
}

}  // namespace warpmat
