#include <warpmat/scalar/lane_offsets.h>

#include <array>
#include <bit>
#include <cstdint>
#include <random>

#include "catch.h"

namespace warpmat::lane_offsets_test {

namespace {

using scalar::LaneAddresses;
using scalar::LanePattern;

constexpr std::uint64_t region_start = 0x7f00'0000'0100;

struct alignas(64) Row {
  std::array<std::uint64_t, 32> wide{};
  std::array<std::uint32_t, 32> narrow{};
};

/// The pattern by its definition, lane by lane.
LanePattern expected(const std::array<std::uint64_t, 32>& address, const LaneAddresses& a) {
  bool same = true, consecutive = a.lanes == 0xffffffff;
  const std::uint64_t first = address[static_cast<std::size_t>(std::countr_zero(a.lanes))] + a.add;
  for (std::size_t lane = 0; lane < 32; ++lane) {
    if ((a.lanes >> lane & 1) == 0) continue;
    std::uint64_t offset = address[lane] + a.add, before = first;
    if (a.wraps) offset = static_cast<std::uint32_t>(offset), before = static_cast<std::uint32_t>(first);
    if (offset > a.last || (offset + a.start) % a.bytes != 0) return LanePattern::invalid;
    same &= offset == before;
    consecutive &= offset == before + lane * a.element;
  }
  return consecutive ? LanePattern::consecutive : same ? LanePattern::same : LanePattern::scattered;
}

}  // namespace

TEST_CASE("offsets of a warp's access are those of its lanes, and have their pattern", "[scalar]") {
  std::mt19937_64 random(1);
  std::array<int, 4> seen{};
  for (int round = 0; round < 20'000; ++round) {
    const std::uint32_t bytes = 1u << random() % 4, size = 4096 + static_cast<std::uint32_t>(random() % 64);
    const bool wide = random() % 2 != 0, shared = !wide || random() % 2 != 0;
    const std::uint64_t start = shared ? 0x400 : region_start;
    const std::uint32_t lanes = random() % 3 == 0 ? static_cast<std::uint32_t>(random() | 1) : 0xffffffff;
    const std::uint64_t kind = random() % 3, base = start + random() % (size / bytes + 4) * bytes;
    Row row;
    for (std::size_t lane = 0; lane < 32; ++lane) {
      row.wide[lane] = kind == 0 ? base : kind == 1 ? base + lane * bytes : start + random() % (size / bytes) * bytes;
      const bool strange = random() % 512 == 0;
      if (strange) row.wide[lane] = random() % 2 != 0 ? random() : row.wide[lane] + (random() % 2 != 0 ? 1 : std::uint64_t{1} << 32);
      if (!wide) row.wide[lane] = static_cast<std::uint32_t>(row.wide[lane]);
      row.narrow[lane] = static_cast<std::uint32_t>(row.wide[lane]);
    }
    const LaneAddresses a{.base = wide ? static_cast<const void*>(row.wide.data()) : row.narrow.data(),
                          .wide = wide,
                          .wraps = shared,
                          .add = 0 - start,
                          .lanes = lanes,
                          .start = static_cast<std::uint32_t>(start),
                          .bytes = bytes,
                          .last = size - bytes,
                          .element = bytes};
    alignas(64) std::array<std::uint32_t, 32> offsets{};
    const LanePattern pattern = scalar::find_lane_offsets(a, offsets.data());
    const LanePattern wanted = expected(row.wide, a);
    INFO("round " << round);
    REQUIRE(pattern == wanted);
    ++seen[static_cast<std::size_t>(pattern)];
    if (pattern == LanePattern::invalid) continue;
    const auto first = static_cast<std::size_t>(std::countr_zero(lanes));
    for (std::size_t lane = 0; lane < 32; ++lane)
      REQUIRE(offsets[lane] == static_cast<std::uint32_t>(row.wide[(lanes >> lane & 1) != 0 ? lane : first] - start));
  }
  for (const int count : seen) CHECK(count > 100);
}

}  // namespace warpmat::lane_offsets_test
