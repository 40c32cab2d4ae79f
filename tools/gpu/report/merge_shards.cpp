#include "tools/gpu/report/merge_shards.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>

namespace warpmat {
namespace {

using Run = std::vector<std::size_t>;  ///< indices of its parts

std::string name(const Part& part) {
  return part.shard.whole() ? part.file : fmt::format("{} (part {})", part.file, to_string(part.shard));
}

[[noreturn]] void refuse(const std::string& reason) {
  throw std::runtime_error(reason);
}

void check_each_once(const std::vector<Part>& parts, const Run& run) {
  std::map<std::size_t, std::size_t> seen;
  for (const std::size_t i : run) {
    const Part& part = parts[i];
    const auto [other, added] = seen.emplace(part.shard.number, i);
    if (!added) refuse(fmt::format("{} and {} hold the same cases: they would count twice", name(parts[other->second]), name(part)));
    if (!part.complete && !part.shard.whole()) refuse(fmt::format("{} is incomplete: run it again", name(part)));
  }
}

/// "seed 1 and 2": the difference between the runs of two parts.
std::string differences(const Part& a, const Part& b) {
  std::string text;
  for (std::size_t i = 0; i < std::min(a.run.size(), b.run.size()); ++i)
    if (a.run[i] != b.run[i])
      text += fmt::format("{}{}: {} and {}", text.empty() ? "" : "; ", a.run[i].first, a.run[i].second, b.run[i].second);
  return text;
}

/// The first number of a part that `run` lacks; 0 if it is complete.
std::size_t missing(const std::vector<Part>& parts, const Run& run) {
  const std::size_t count = parts[run.front()].shard.count;
  std::set<std::size_t> numbers;
  for (const std::size_t i : run) numbers.insert(parts[i].shard.number);
  for (std::size_t number = 1; number <= count; ++number)
    if (!numbers.contains(number)) return number;
  return 0;
}

/// If two runs each lack a part, they are probably one run whose parts differ.
void check_all_there(const std::vector<Part>& parts, const std::vector<Run>& runs) {
  const Run* lacking = nullptr;
  for (const Run& run : runs) {
    if (missing(parts, run) == 0) continue;
    if (lacking != nullptr) {
      const Part &a = parts[lacking->front()], &b = parts[run.front()];
      refuse(fmt::format("{} and {} are no parts of one run: {}", name(a), name(b), differences(a, b)));
    }
    lacking = &run;
  }
  if (lacking == nullptr) return;
  const Part& first = parts[lacking->front()];
  refuse(fmt::format("part {}/{} is missing of the run that {} belongs to", missing(parts, *lacking), first.shard.count, first.file));
}

bool share_cases(const Part& a, const Part& b) {
  if (a.cases != b.cases || a.range.first >= b.range.first + b.range.count || b.range.first >= a.range.first + a.range.count) return false;
  return std::ranges::any_of(a.items, [&](const std::string& item) { return std::ranges::find(b.items, item) != b.items.end(); });
}

void check_distinct(const std::vector<Part>& parts, const std::vector<Run>& runs) {
  for (std::size_t i = 0; i < runs.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const Part &a = parts[runs[j].front()], &b = parts[runs[i].front()];
      if (share_cases(a, b))
        refuse(fmt::format("{} and {} are of runs that have cases in common: those would count twice", name(a), name(b)));
    }
}

}  // namespace

std::vector<Run> runs_of(const std::vector<Part>& parts) {
  std::vector<Run> runs;
  std::map<Properties, std::size_t> known;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto [run, added] = known.emplace(parts[i].run, runs.size());
    if (added) runs.emplace_back();
    runs[run->second].push_back(i);
  }
  for (Run& run : runs) {
    check_each_once(parts, run);
    std::ranges::sort(run, {}, [&](std::size_t i) { return parts[i].shard.number; });
  }
  check_all_there(parts, runs);
  check_distinct(parts, runs);
  return runs;
}

}  // namespace warpmat
