#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace warpmat {

/// How many characters must be inserted, removed, replaced or exchanged with their neighbour to make `b` of `a`.
inline std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before, last(b.size() + 1), row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before = std::exchange(last, row);
  }
  return last[b.size()];
}

/// The one of `known` that `word` is most likely a slip of: with the least edits, at most a third of its letters but one at least, or one
/// that begins with `word`. Empty where there is none.
inline std::string_view nearest(std::string_view word, std::span<const std::string_view> known) {
  std::string_view found;
  std::size_t least = std::max<std::size_t>(word.size() / 3, 1) + 1;
  for (const std::string_view candidate : known) {
    const std::size_t edits = edit_distance(word, candidate);
    if (edits < least && edits < candidate.size()) {
      least = edits;
      found = candidate;
    }
  }
  if (found.empty() && word.size() >= 3)
    for (const std::string_view candidate : known)
      if (candidate.starts_with(word) || (candidate.size() >= 3 && word.starts_with(candidate))) return candidate;
  return found;
}

}  // namespace warpmat
