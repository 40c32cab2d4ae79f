#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

namespace warpmat::inline v0_1::machine {

/// The memory of blocks that have ended, for the launch's next blocks: to give it back to the system and ask again costs more than to clear
/// what must be zero. Several threads may call it at once; most have a part of their own, so that none waits for another.
class SpareStorage {
 public:
  /// At least `bytes`, with any contents.
  std::vector<std::uint8_t> take(std::size_t bytes) {
    std::vector<std::uint8_t> storage;
    {
      Part& part = own_part();
      const std::lock_guard lock(part.mutex);
      if (!part.spare.empty()) {
        storage = std::move(part.spare.back());
        part.spare.pop_back();
      }
    }
    if (storage.size() < bytes) storage.resize(bytes);
    return storage;
  }

  void give(std::vector<std::uint8_t> storage) {
    Part& part = own_part();
    const std::lock_guard lock(part.mutex);
    if (part.spare.size() < most) part.spare.push_back(std::move(storage));
  }

 private:
  static constexpr std::size_t parts = 16, most = 16;  ///< blocks of a part: a cluster has no more
  struct alignas(64) Part {                            // a cache line of its own
    std::mutex mutex;
    std::vector<std::vector<std::uint8_t>> spare;
  };

  Part& own_part() {
    static std::atomic<std::size_t> threads = 0;
    thread_local const std::size_t thread = threads++;
    return parts_[thread % parts];
  }

  std::array<Part, parts> parts_;
};

}  // namespace warpmat::inline v0_1::machine
