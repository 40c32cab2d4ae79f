#include "gpu/cases/shard.h"

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>

#include <warpmat/words/words.h>

namespace warpmat {
Shard::Range Shard::of(std::uint64_t total) const {
  const std::uint64_t least = total / count, larger = total % count;  // the first `larger` parts have one more
  const std::uint64_t before = number - 1;
  return {before * least + std::min(before, larger), least + (before < larger ? 1 : 0)};
}

std::string to_string(const Shard& shard) {
  return fmt::format("{}/{}", shard.number, shard.count);
}

Shard parse_shard(std::string_view text) {
  WordReader words(text);
  const auto number = number_of<std::size_t>(words.until('/')), count = number_of<std::size_t>(words.rest());
  const bool plain = text.find_first_not_of("0123456789/") == std::string_view::npos;
  if (plain && number && count && *number >= 1 && *number <= *count && *count <= max_shards) return {*number, *count};
  throw std::invalid_argument(
      fmt::format("'{}' is no part of a run: I/N with I from 1 to N and N at most {}, for example 2/8", text, max_shards));
}

}  // namespace warpmat
