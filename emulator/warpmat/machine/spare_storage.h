#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

namespace warpmat::inline v0_1::machine {

/// The memory of blocks that have ended, for the launch's next blocks: to give it back to the system and ask again costs more than to clear
/// what must be zero. Several threads may call it at once.
class SpareStorage {
 public:
  /// At least `bytes`, with any contents.
  std::vector<std::uint8_t> take(std::size_t bytes) {
    std::vector<std::uint8_t> storage;
    {
      const std::lock_guard lock(mutex_);
      if (!spare_.empty()) {
        storage = std::move(spare_.back());
        spare_.pop_back();
      }
    }
    if (storage.size() < bytes) storage.resize(bytes);
    return storage;
  }

  void give(std::vector<std::uint8_t> storage) {
    const std::lock_guard lock(mutex_);
    if (spare_.size() < most) spare_.push_back(std::move(storage));
  }

 private:
  static constexpr std::size_t most = 64;  ///< blocks: some of every thread

  std::mutex mutex_;
  std::vector<std::vector<std::uint8_t>> spare_;
};

}  // namespace warpmat::inline v0_1::machine
