#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

namespace warpmat::inline v0_1::machine {

/// The registers' memory of warps that have ended, for the launch's next warps: to give it back to the system and ask again costs more than
/// to clear it. Several threads may call it at once.
class SpareStorage {
 public:
  /// `bytes` zeros.
  std::vector<std::uint8_t> take(std::size_t bytes) {
    std::vector<std::uint8_t> storage;
    {
      const std::lock_guard lock(mutex_);
      if (!spare_.empty()) {
        storage = std::move(spare_.back());
        spare_.pop_back();
      }
    }
    storage.assign(bytes, 0);
    return storage;
  }

  void give(std::vector<std::uint8_t> storage) {
    const std::lock_guard lock(mutex_);
    if (spare_.size() < most) spare_.push_back(std::move(storage));
  }

 private:
  static constexpr std::size_t most = 256;  ///< warps: some blocks' of every thread

  std::mutex mutex_;
  std::vector<std::vector<std::uint8_t>> spare_;
};

}  // namespace warpmat::inline v0_1::machine
