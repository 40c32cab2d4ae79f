#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace warpmat {

/// Part `number` of the `count` parts of a run that several machines share, as --shard 2/8 names it.
struct Shard {
  std::size_t number = 1;  ///< from 1 to `count`
  std::size_t count = 1;

  /// Things in a row.
  struct Range {
    std::uint64_t first, count;
    friend bool operator==(const Range&, const Range&) = default;
  };

  /// What this part takes of `total` things. The parts follow each other, together they are all of them, and their sizes differ by one at
  /// most.
  Range of(std::uint64_t total) const;

  bool whole() const { return count == 1; }
  friend bool operator==(const Shard&, const Shard&) = default;
};

/// "2/8".
std::string to_string(const Shard& shard);

/// The inverse. Throws std::invalid_argument saying what would be right.
Shard parse_shard(std::string_view text);

inline constexpr std::size_t most_shards = 1'000'000;

}  // namespace warpmat
