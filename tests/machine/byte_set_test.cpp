#include <warpmat/machine/byte_set.h>

#include "test.h"

namespace warpmat::byte_set_test {

TEST_CASE("a set of bytes is what a list of its bytes is", "[machine]") {
  constexpr std::uint64_t bytes = 300;
  ByteSet set(bytes);
  std::vector<bool> oracle(bytes);
  std::mt19937 random(7);
  const auto below = [&](std::uint64_t limit) { return random() % limit; };
  for (int i = 0; i < 3000; ++i) {
    const std::uint64_t offset = below(bytes), count = below(std::min<std::uint64_t>(bytes - offset, 150) + 1);
    const bool adds = below(2) == 0;
    adds ? set.add(offset, count) : set.remove(offset, count);
    std::fill_n(oracle.begin() + static_cast<std::ptrdiff_t>(offset), count, adds);
    const std::uint64_t from = below(bytes), asked = below(bytes - from + 1);
    for (const bool in_set : {false, true}) {
      const auto begin = oracle.begin() + static_cast<std::ptrdiff_t>(from), end = begin + static_cast<std::ptrdiff_t>(asked);
      const auto found = std::find(begin, end, in_set);
      const auto expected = found == end ? std::nullopt : std::optional(static_cast<std::uint64_t>(found - oracle.begin()));
      REQUIRE(set.find(from, asked, in_set) == expected);
    }
    REQUIRE(set.missing() == static_cast<std::uint64_t>(std::count(oracle.begin(), oracle.end(), false)));
  }
}

TEST_CASE("threads that add neighbouring bytes to a set lose none", "[machine]") {
  constexpr std::uint64_t bytes = 1 << 14;
  ByteSet set(bytes);
  const auto add_every = [&](std::uint64_t first) {
    for (std::uint64_t i = first; i < bytes; i += 4) set.add(i, 1);
  };
  std::vector<std::thread> threads;
  for (std::uint64_t first = 0; first < 4; ++first) threads.emplace_back(add_every, first);
  for (std::thread& thread : threads) thread.join();
  CHECK(set.has_all(0, bytes));
  CHECK(set.missing() == 0);
}

}  // namespace warpmat::byte_set_test
