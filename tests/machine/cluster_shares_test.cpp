#include <warpmat/machine/cluster_shares.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "catch.h"

namespace warpmat::machine {
namespace {

/// What threads get that ask in a random order until nothing is left.
std::vector<std::vector<std::uint64_t>> deal(std::uint64_t size, std::size_t threads, std::uint64_t end, unsigned seed) {
  ClusterShares shares(size, threads);
  std::mt19937 random(seed);
  std::vector<std::vector<std::uint64_t>> given(threads);
  std::vector<std::size_t> left(threads);
  for (std::size_t& place : left) place = shares.join();
  while (!left.empty()) {
    const std::size_t who = random() % left.size();
    const auto share = shares.next(left[who], end);
    if (!share) {
      left.erase(left.begin() + static_cast<std::ptrdiff_t>(who));
      continue;
    }
    for (std::uint64_t i = share->first; i < share->end; ++i)
      if (const std::uint64_t number = shares.number(share->place, i); number < end) given[left[who]].push_back(number);
  }
  return given;
}

}  // namespace

TEST_CASE("threads get each cluster once, whoever asks first", "[machine][grid]") {
  for (const std::size_t threads : {1u, 2u, 3u, 8u, 40u})
    for (const std::uint64_t size : {std::uint64_t{threads}, std::uint64_t{64}, std::uint64_t{1000}, std::uint64_t{4097}}) {
      if (size < threads) continue;
      for (const std::uint64_t end : {size, size / 2}) {
        CAPTURE(threads, size, end);
        std::vector<std::uint64_t> all;
        for (const auto& some : deal(size, threads, end, 7)) all.insert(all.end(), some.begin(), some.end());
        std::ranges::sort(all);
        std::vector<std::uint64_t> expected(end);
        std::iota(expected.begin(), expected.end(), 0u);
        CHECK(all == expected);
      }
    }
}

TEST_CASE("one thread gets the clusters in order", "[machine][grid]") {
  const std::vector<std::uint64_t> all = deal(100, 1, 100, 1).front();
  CHECK(all.size() == 100);
  CHECK(std::ranges::is_sorted(all));
}

}  // namespace warpmat::machine
