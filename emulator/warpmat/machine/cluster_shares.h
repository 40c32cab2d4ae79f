#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <warpmat/machine/threads.h>

namespace warpmat::machine {

/// Deals the numbers of clusters out to the threads of a launch, without a lock. Each thread has portions of neighbours, in turn with the
/// others. Once it has no more, it takes what others have not begun. A thread has the same portions in every launch of this size, so
/// that memory which launches share stays in the cache of one core.
class ClusterShares {
 public:
  ClusterShares(std::uint64_t size, std::size_t threads)
      : threads_(threads),
        portion_(std::clamp<std::uint64_t>(size / (fewest_portions * threads), 1, largest_portion)),
        others_(threads - 1) {}

  /// The place of the calling thread, which no other thread of the launch has.
  std::size_t join() {
    std::size_t place = thread_number() % threads_;
    while (queue(place).taken.exchange(true, std::memory_order_relaxed)) place = (place + 1) % threads_;
    return place;
  }

  /// Clusters of one place, which ascend.
  struct Share {
    std::size_t place;
    std::uint64_t first, end;  ///< number() of them
  };
  /// The next ones below `end` for the thread of a place; nothing where all have begun.
  std::optional<Share> next(std::size_t place, std::uint64_t end) {
    for (std::size_t i = 0; i < threads_; ++i, place = place + 1 == threads_ ? 0 : place + 1) {
      std::atomic<std::uint64_t>& begun = queue(place).begun;
      if (const std::uint64_t seen = begun.load(std::memory_order_relaxed); number(place, seen) < end) {
        const std::uint64_t count = share_of((end - number(place, seen)) / threads_);
        const std::uint64_t first = begun.fetch_add(count, std::memory_order_relaxed);
        if (number(place, first) < end) return Share{place, first, first + count};
      }
    }
    return std::nullopt;
  }

  /// The cluster that comes `i`-th at a place.
  std::uint64_t number(std::size_t place, std::uint64_t i) const { return (i / portion_ * threads_ + place) * portion_ + i % portion_; }

 private:
  static constexpr std::uint64_t fewest_portions = 4;  ///< of a thread
  static constexpr std::uint64_t largest_portion = 8;

  static constexpr std::size_t cache_line = 64;

  struct Queue {
    std::byte before[cache_line];  // all threads change what follows, so nothing that they read shares its cache line
    std::atomic<std::uint64_t> begun = 0;
    std::atomic<bool> taken = false;
    std::byte behind[cache_line];
  };

  /// How many clusters a thread takes at once where so many are left: fewer and fewer, so that all threads end at nearly the same time.
  static std::uint64_t share_of(std::uint64_t left) { return std::clamp<std::uint64_t>(left / 4, 1, largest_portion); }

  Queue& queue(std::size_t place) { return place == 0 ? first_ : others_[place - 1]; }

  std::size_t threads_;
  std::uint64_t portion_;
  Queue first_;
  std::vector<Queue> others_;
};

}  // namespace warpmat::machine
