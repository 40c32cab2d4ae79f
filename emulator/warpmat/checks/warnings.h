#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace warpmat::checks {

/// Reports that do not end a launch: for each statement the first one of the lowest cluster, independent of the schedule of threads.
class Warnings {
 public:
  /// Whether add() would keep a report.
  bool wants(std::uint32_t statement, std::uint64_t cluster) {
    const std::lock_guard lock(mutex_);
    const auto found = kept_.find(statement);
    return found == kept_.end() || cluster < found->second.first;
  }

  void add(std::uint32_t statement, std::uint64_t cluster, std::string text) {
    const std::lock_guard lock(mutex_);
    const auto [found, is_new] = kept_.try_emplace(statement, cluster, text);
    if (!is_new && cluster < found->second.first) found->second = {cluster, std::move(text)};
  }

  std::vector<std::string> texts() const {
    std::vector<std::string> texts;
    for (const auto& [statement, first] : kept_) texts.push_back(first.second);
    return texts;
  }

 private:
  std::mutex mutex_;
  std::map<std::uint32_t, std::pair<std::uint64_t, std::string>> kept_;  ///< by statement: cluster and text
};

}  // namespace warpmat::checks
