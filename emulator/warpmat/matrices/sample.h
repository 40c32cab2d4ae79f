#pragma once

#include <cstddef>
#include <vector>

namespace warpmat {

/// At most `most` of the numbers below `count`, ascending and evenly spaced, the first and the last included. Messages show these of many
/// lines.
inline std::vector<std::size_t> sample(std::size_t count, std::size_t most = 8) {
  std::vector<std::size_t> chosen;
  const std::size_t shown = count < most ? count : most;
  for (std::size_t i = 0; i < shown; ++i) chosen.push_back(shown < 2 ? 0 : i * (count - 1) / (shown - 1));
  return chosen;
}

}  // namespace warpmat
