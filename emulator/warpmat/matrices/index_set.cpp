#include <warpmat/matrices/index_set.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include <fmt/core.h>

#include <warpmat/text.h>

namespace warpmat {
namespace {

constexpr std::size_t most_ranges = 4;

/// First and last of each run of members among the first `end` indices.
std::vector<std::pair<std::size_t, std::size_t>> ranges_of(const std::vector<bool>& set, std::size_t end) {
  std::vector<std::pair<std::size_t, std::size_t>> ranges;
  for (std::size_t i = 0; i < end; ++i) {
    if (!set[i]) continue;
    if (!ranges.empty() && ranges.back().second + 1 == i)
      ranges.back().second = i;
    else
      ranges.emplace_back(i, i);
  }
  return ranges;
}

std::string text_of(const std::vector<std::pair<std::size_t, std::size_t>>& ranges) {
  std::string text;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    if (i > 0) text += i + 1 == ranges.size() ? " and " : ", ";
    const auto& [first, last] = ranges[i];
    text += first == last ? fmt::format("{}", first) : fmt::format("{} to {}", first, last);
  }
  return text;
}

/// The smallest period of the set that occurs twice at least; its size where it has none.
std::size_t period_of(const std::vector<bool>& set) {
  for (std::size_t period = 2; period <= set.size() / 2; ++period) {
    bool repeats = true;
    for (std::size_t i = period; repeats && i < set.size(); ++i) repeats = set[i] == set[i - period];
    if (repeats) return period;
  }
  return set.size();
}

/// The rows of a mask that are alike, with their columns.
struct Group {
  std::vector<bool> rows, columns;
};

std::vector<Group> groups_of(const std::vector<bool>& mask, std::size_t columns) {
  const std::size_t rows = mask.size() / columns;
  std::vector<Group> groups;
  std::map<std::vector<bool>, std::size_t> known;
  for (std::size_t row = 0; row < rows; ++row) {
    const auto begin = mask.begin() + static_cast<std::ptrdiff_t>(row * columns);
    std::vector<bool> line(begin, begin + static_cast<std::ptrdiff_t>(columns));
    if (std::ranges::find(line, true) == line.end()) continue;
    const auto [found, added] = known.try_emplace(line, groups.size());
    if (added) groups.push_back({std::vector<bool>(rows), std::move(line)});
    groups[found->second].rows[row] = true;
    if (groups.size() > most_ranges) return {};
  }
  return groups;
}

/// "above the diagonal" where all members lie there and are most of it; empty otherwise.
std::string triangle(const std::vector<bool>& mask, std::size_t columns) {
  struct Count {
    std::size_t inside = 0, members = 0;
  };
  const std::size_t rows = mask.size() / columns;
  Count above, below, on;
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t column = 0; column < columns; ++column) {
      Count& count = column > row ? above : column < row ? below : on;
      ++count.inside;
      if (mask[row * columns + column]) ++count.members;
    }
  const auto most = [](const Count& count) { return count.members * 10 >= count.inside * 9; };
  if (above.members + below.members == 0 && most(on)) return "the diagonal";
  if (below.members == 0 && above.members != 0 && most(above)) return on.members == 0 ? "above the diagonal" : "on and above the diagonal";
  if (above.members == 0 && below.members != 0 && most(below)) return on.members == 0 ? "below the diagonal" : "on and below the diagonal";
  return "";
}

}  // namespace

std::string describe_indices(const std::vector<bool>& set, std::string_view name) {
  const auto members = static_cast<std::size_t>(std::ranges::count(set, true));
  if (members == set.size()) return fmt::format("every {}", name);
  const auto ranges = ranges_of(set, set.size());
  const auto plural = [&](std::size_t count) { return fmt::format("{}{}", name, count == 1 ? "" : "s"); };
  if (const std::size_t period = period_of(set); ranges.size() > 1 && period < set.size()) {
    const auto within = ranges_of(set, period);
    if (within.size() <= most_ranges)
      return fmt::format("{} {} of each {}", plural(within.size() == 1 && within[0].first == within[0].second ? 1 : 2), text_of(within),
                         period);
  }
  if (ranges.size() <= most_ranges) return fmt::format("{} {}", plural(members), text_of(ranges));
  return fmt::format("{} of {} {}, from {} to {}", members, set.size(), plural(2), ranges.front().first, ranges.back().second);
}

std::string describe_mask(const std::vector<bool>& mask, std::size_t columns) {
  const std::size_t rows = mask.size() / columns;
  Group hull{std::vector<bool>(rows), std::vector<bool>(columns)};
  std::size_t members = 0;
  for (std::size_t i = 0; i < mask.size(); ++i) {
    if (!mask[i]) continue;
    hull.rows[i / columns] = hull.columns[i % columns] = true;
    ++members;
  }
  const auto of_group = [&](const Group& group) {
    const bool all_rows = std::ranges::count(group.rows, false) == 0, all_columns = std::ranges::count(group.columns, false) == 0;
    if (rows == 1) return all_columns ? std::string("every element") : describe_indices(group.columns, "element");
    if (all_rows && all_columns) return std::string("every element");
    if (all_columns) return "all of " + describe_indices(group.rows, "row");
    if (all_rows) return "all of " + describe_indices(group.columns, "column");
    return fmt::format("{}: {}", describe_indices(group.rows, "row"), describe_indices(group.columns, "column"));
  };
  const auto inside =
      static_cast<std::size_t>(std::ranges::count(hull.rows, true)) * static_cast<std::size_t>(std::ranges::count(hull.columns, true));
  if (members == inside) return of_group(hull);
  if (std::string text = triangle(mask, columns); !text.empty()) return text;
  if (const auto groups = groups_of(mask, columns); !groups.empty()) {
    std::vector<std::string> texts;
    for (const Group& group : groups) texts.push_back(of_group(group));
    return joined(texts, "; ");
  }
  const double percent = 100.0 * static_cast<double>(members) / static_cast<double>(inside);
  if (percent >= 90) return fmt::format("nearly all ({:.3g} %) of the elements in: {}", percent, of_group(hull));
  return fmt::format("{:.2g} % of the elements in: {}", percent, of_group(hull));
}

}  // namespace warpmat
