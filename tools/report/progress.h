#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <thread>

namespace warpmat {

/// A counter that many threads advance. If stderr is a terminal and the work takes longer than a second, a line there shows it; the
/// destructor clears the line.
class Progress {
 public:
  explicit Progress(std::size_t total);

  void advance(std::size_t count = 1) { done_.fetch_add(count, std::memory_order_relaxed); }

 private:
  void show(const std::stop_token& stop);

  std::size_t total_;
  std::atomic<std::size_t> done_{0};
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread display_;  // last, because it uses the others
};

}  // namespace warpmat
