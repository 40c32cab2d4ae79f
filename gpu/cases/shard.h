#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace warpmat {

/// Part `number` of the `count` parts of a run shared by several machines; --shard 2/8 names it.
struct Shard {
  std::size_t number = 1;  ///< from 1 to `count`
  std::size_t count = 1;

  /// A range of consecutive things.
  struct Range {
    std::uint64_t first, count;
    friend bool operator==(const Range&, const Range&) = default;
  };

  /// This part's share of `total` things. The parts are consecutive, cover all things, and differ in size by at most one.
  Range of(std::uint64_t total) const;

  bool whole() const { return count == 1; }
  friend bool operator==(const Shard&, const Shard&) = default;
};

/// "2/8".
std::string to_string(const Shard& shard);

/// The inverse. Throws std::invalid_argument saying what would be right.
Shard parse_shard(std::string_view text);

inline constexpr std::size_t max_shards = 1'000'000;

}  // namespace warpmat
