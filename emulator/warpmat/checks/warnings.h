#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include <warpmat/warp.h>

namespace warpmat::checks {

/// Reports that do not end a launch: for each statement the first one of the lowest cluster, independent of the schedule of threads.
template <typename Report>
class FirstReports {
 public:
  /// Whether add() would keep a report.
  bool wants(std::uint32_t statement, std::uint64_t cluster) {
    const std::lock_guard lock(mutex_);
    const auto found = kept_.find(statement);
    return found == kept_.end() || cluster < found->second.first;
  }

  void add(std::uint32_t statement, std::uint64_t cluster, Report report) {
    const std::lock_guard lock(mutex_);
    const auto found = kept_.find(statement);
    if (found != kept_.end() && cluster >= found->second.first) return;
    if (found != kept_.end()) kept_.erase(found);
    kept_.emplace(statement, std::pair(cluster, std::move(report)));
  }

  bool empty() const { return kept_.empty(); }
  /// In the order of the statements.
  std::vector<Report> all() const {
    std::vector<Report> all;
    for (const auto& [statement, first] : kept_) all.push_back(first.second);
    return all;
  }

 private:
  std::mutex mutex_;
  std::map<std::uint32_t, std::pair<std::uint64_t, Report>> kept_;  ///< by statement: cluster and report
};

using Warnings = FirstReports<Trap>;

}  // namespace warpmat::checks
