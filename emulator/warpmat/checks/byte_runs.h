#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace warpmat::checks {

/// A page of memory by runs of bytes that have the same record, in the order of their addresses. `Record::join(next)` says whether the run
/// behind it may become part of this one, and takes over what differs.
template <typename Record>
class ByteRuns {
 public:
  struct Run {
    std::uint16_t first = 0, end = 0;
    Record record;
  };

  const std::vector<Run>& runs() const { return runs_; }

  /// Calls `change(record, first, end)` for the parts of [first, end); bytes without a record get a new one. Returns how many runs there
  /// are more. `scratch` is overwritten; a caller that keeps it saves its allocation.
  template <typename Change>
  std::ptrdiff_t update(std::uint32_t first, std::uint32_t end, std::vector<Run>& scratch, Change change) {
    scratch.clear();
    const auto from = std::partition_point(runs_.begin(), runs_.end(), [&](const Run& run) { return run.end < first; });
    auto to = from;  // the run before joins, too
    std::uint32_t place = first;
    for (; to != runs_.end() && to->first < end; ++to) {
      if (place < to->first) add(scratch, place, to->first, Record(), change);
      split(scratch, *to, first, end, change);
      place = std::max<std::uint32_t>(place, to->end);
    }
    if (place < end) add(scratch, place, end, Record(), change);
    if (to != runs_.end() && to->first == end) keep(scratch, *to++);
    return replace(from, to, scratch);
  }

 private:
  using Place = typename std::vector<Run>::iterator;

  static void keep(std::vector<Run>& parts, const Run& run) {
    if (run.first == run.end) return;
    if (!parts.empty() && parts.back().end == run.first && parts.back().record.join(run.record))
      parts.back().end = run.end;
    else
      parts.push_back(run);
  }

  template <typename Change>
  static void add(std::vector<Run>& parts, std::uint32_t first, std::uint32_t end, Record record, Change& change) {
    change(record, first, end);
    keep(parts, {static_cast<std::uint16_t>(first), static_cast<std::uint16_t>(end), record});
  }

  /// What [first, end) makes of a run: the part before it, the changed part, the part behind it.
  template <typename Change>
  static void split(std::vector<Run>& parts, const Run& run, std::uint32_t first, std::uint32_t end, Change& change) {
    const auto begin = static_cast<std::uint16_t>(std::clamp<std::uint32_t>(first, run.first, run.end));
    const auto behind = std::max(begin, static_cast<std::uint16_t>(std::min<std::uint32_t>(end, run.end)));
    keep(parts, {run.first, begin, run.record});
    if (begin < behind) add(parts, begin, behind, run.record, change);
    keep(parts, {behind, run.end, run.record});
  }

  std::ptrdiff_t replace(Place from, Place to, const std::vector<Run>& parts) {
    const std::ptrdiff_t before = to - from, more = std::ssize(parts) - before;
    const auto middle = parts.begin() + std::min(before, std::ssize(parts));
    const Place end = std::copy(parts.begin(), middle, from);
    if (more < 0)
      runs_.erase(end, to);
    else
      runs_.insert(end, middle, parts.end());
    return more;
  }

  std::vector<Run> runs_;
};

}  // namespace warpmat::checks
