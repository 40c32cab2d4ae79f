#include <warpmat/scalar/lane_offsets.h>

#include <warpmat/execute/fast/instruction_sets.h>

#include "test.h"

namespace warpmat::lane_offsets_test {
namespace {

using scalar::LaneAddresses;
using scalar::LanePattern;

constexpr std::uint64_t region_start = 0x7f00'0000'0100;

struct BestAgain {
  ~BestAgain() { use_best_instruction_set(); }
};

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
    consecutive &= offset == before + lane * a.bytes;
  }
  return consecutive ? LanePattern::consecutive : same ? LanePattern::same : LanePattern::scattered;
}

/// Addresses of a warp's access: consecutive, equal, or anywhere in a region, and now and then one outside.
struct RandomAccess {
  Row row;
  LaneAddresses a;
  std::uint64_t start;

  RandomAccess(std::mt19937_64& random, std::uint32_t bytes) {
    const std::uint32_t size = 4096 + static_cast<std::uint32_t>(random() % 64);
    const bool wide = random() % 2 != 0, shared = !wide || random() % 2 != 0;
    start = shared ? 0x400 : region_start;
    const std::uint32_t lanes = random() % 3 == 0 ? static_cast<std::uint32_t>(random() | 1) : 0xffffffff;
    const std::uint64_t kind = random() % 3, base = start + random() % (size / bytes + 4) * bytes;
    for (std::size_t lane = 0; lane < 32; ++lane) {
      row.wide[lane] = kind == 0 ? base : kind == 1 ? base + lane * bytes : start + random() % (size / bytes) * bytes;
      const bool strange = random() % 512 == 0;
      if (strange) row.wide[lane] = random() % 2 != 0 ? random() : row.wide[lane] + (random() % 2 != 0 ? 1 : std::uint64_t{1} << 32);
      if (!wide) row.wide[lane] = static_cast<std::uint32_t>(row.wide[lane]);
      row.narrow[lane] = static_cast<std::uint32_t>(row.wide[lane]);
    }
    a = {.base = wide ? static_cast<const void*>(row.wide.data()) : row.narrow.data(),
         .wide = wide,
         .wraps = shared,
         .add = 0 - start,
         .lanes = lanes,
         .start = static_cast<std::uint32_t>(start),
         .bytes = bytes,
         .last = size - bytes};
  }
  RandomAccess(const RandomAccess&) = delete;
  RandomAccess& operator=(const RandomAccess&) = delete;

  std::uint32_t offset(std::size_t lane) const { return static_cast<std::uint32_t>(row.wide[lane] - start); }
};

using Words = std::array<std::uint32_t, 32>;

TEST_CASE("offsets of a warp's access are those of its lanes, and have their pattern", "[scalar]") {
  std::mt19937_64 random(1);
  std::array<int, 4> seen{};
  for (int round = 0; round < 20'000; ++round) {
    const RandomAccess access(random, 1u << random() % 4);
    alignas(64) Words offsets{};
    const LanePattern pattern = scalar::find_lane_offsets(access.a, offsets.data());
    INFO("round " << round);
    REQUIRE(pattern == expected(access.row.wide, access.a));
    ++seen[static_cast<std::size_t>(pattern)];
    if (pattern == LanePattern::invalid) continue;
    const auto first = static_cast<std::size_t>(std::countr_zero(access.a.lanes));
    for (std::size_t lane = 0; lane < 32; ++lane) REQUIRE(offsets[lane] == access.offset((access.a.lanes >> lane & 1) != 0 ? lane : first));
  }
  for (const int count : seen) CHECK(count > 100);
}

TEST_CASE("words of a warp's access are loaded and stored lane by lane, or not at all", "[scalar]") {
  std::mt19937_64 random(2);
  std::array<int, 4> seen{};
  const BestAgain best_again;
  for (const std::string_view set : instruction_sets()) {
    use_instruction_set(set);
    for (int round = 0; round < 5'000; ++round) {
      const RandomAccess access(random, 4);
      std::vector<std::uint8_t> memory(std::size_t{access.a.last} + 4);
      for (std::uint8_t& byte : memory) byte = static_cast<std::uint8_t>(random());
      alignas(64) Words row;
      for (std::uint32_t& word : row) word = static_cast<std::uint32_t>(random());
      Words loaded = row;
      std::vector<std::uint8_t> stored = memory;
      const LanePattern wanted = expected(access.row.wide, access.a);
      for (std::size_t lane = 32; lane-- != 0 && wanted != LanePattern::invalid;) {
        if ((access.a.lanes >> lane & 1) == 0) continue;
        std::memcpy(&loaded[lane], memory.data() + access.offset(lane), 4);
        std::memcpy(stored.data() + access.offset(lane), &row[lane], 4);  // the first lane's word stays
      }
      CAPTURE(set, round);
      alignas(64) Words into = row;
      REQUIRE(scalar::load_lane_words(access.a, memory.data(), into.data()) == wanted);
      REQUIRE(into == loaded);
      REQUIRE(scalar::store_lane_words(access.a, memory.data(), row.data()) == wanted);
      REQUIRE(memory == stored);
      ++seen[static_cast<std::size_t>(wanted)];
    }
  }
  for (const int count : seen) CHECK(count > 100);
}

TEST_CASE("a map of bytes has those of all lanes, or one of them misses", "[scalar]") {
  std::mt19937_64 random(5);
  std::array<int, 2> seen{};
  const BestAgain best_again;
  for (const std::string_view set : instruction_sets()) {
    use_instruction_set(set);
    for (int round = 0; round < 5'000; ++round) {
      const std::uint32_t bytes = 1u << random() % 5;
      constexpr std::uint32_t size = 2048;
      std::vector<std::uint16_t> map(size / 16 + 1, 0xffff);
      for (std::uint64_t missing = random() % 12; missing != 0; --missing) {
        const std::uint64_t byte = random() % size;
        map[byte / 16] = static_cast<std::uint16_t>(map[byte / 16] & ~(1u << byte % 16));
      }
      alignas(64) Words offsets;
      const std::uint32_t base = static_cast<std::uint32_t>(random() % (size / bytes - 31)) * bytes;
      for (std::uint32_t lane = 0; lane < 32; ++lane)
        offsets[lane] = round % 2 == 0 ? base + lane * bytes : static_cast<std::uint32_t>(random() % (size / bytes)) * bytes;
      bool all = true;
      for (const std::uint32_t offset : offsets)
        for (std::uint32_t byte = offset; byte < offset + bytes; ++byte) all &= (map[byte / 16] >> byte % 16 & 1) != 0;
      CAPTURE(set, round, bytes, base);
      REQUIRE(scalar::map_has_lanes(map.data(), offsets.data(), bytes) == all);
      ++seen[all ? 1 : 0];
    }
  }
  for (const int count : seen) CHECK(count > 1000);
}

TEST_CASE("words of a warp's access are moved where a map has all of their bytes, and else none of them", "[scalar]") {
  std::mt19937_64 random(6);
  std::array<std::array<int, 2>, 4> seen{};
  const BestAgain best_again;
  for (const std::string_view set : instruction_sets()) {
    use_instruction_set(set);
    for (int round = 0; round < 10'000; ++round) {
      const RandomAccess access(random, 4);
      std::vector<std::uint8_t> memory(std::size_t{access.a.last} + 4);
      for (std::uint8_t& byte : memory) byte = static_cast<std::uint8_t>(random());
      std::vector<std::uint16_t> map(memory.size() / 16 + 2, 0xffff);
      const LanePattern pattern = expected(access.row.wide, access.a);
      // One byte misses: of a lane, or near one.
      std::uint32_t missing = static_cast<std::uint32_t>(random() % memory.size());
      if (pattern != LanePattern::invalid && random() % 4 != 0)
        missing = access.offset(static_cast<std::size_t>(random() % 32)) + static_cast<std::uint32_t>(random() % 12) - 4;
      if (missing < memory.size()) map[missing / 16] = static_cast<std::uint16_t>(map[missing / 16] & ~(1u << missing % 16));
      bool all = true;
      for (std::size_t lane = 0; lane < 32 && pattern != LanePattern::invalid; ++lane)
        all &= (access.a.lanes >> lane & 1) == 0 || missing - access.offset(lane) >= 4;
      const LanePattern wanted = all ? pattern : LanePattern::invalid;
      alignas(64) Words row;
      for (std::uint32_t& word : row) word = static_cast<std::uint32_t>(random());
      alignas(64) Words loaded = row, into = row;
      std::vector<std::uint8_t> stored = memory, to = memory;
      if (wanted != LanePattern::invalid) {
        scalar::load_lane_words(access.a, memory.data(), loaded.data());
        scalar::store_lane_words(access.a, stored.data(), row.data());
      }
      CAPTURE(set, round, missing);
      REQUIRE(scalar::load_lane_words_in(map.data(), access.a, memory.data(), into.data()) == wanted);
      REQUIRE(into == loaded);
      REQUIRE(scalar::store_lane_words_in(map.data(), access.a, to.data(), row.data()) == wanted);
      REQUIRE(to == stored);
      ++seen[static_cast<std::size_t>(pattern)][all ? 1 : 0];
    }
  }
  for (const LanePattern pattern : {LanePattern::scattered, LanePattern::same, LanePattern::consecutive})
    for (const int count : seen[static_cast<std::size_t>(pattern)]) CHECK(count > 100);
}

TEST_CASE("a row of consecutive or equal words is moved as any words are, and nothing else is", "[scalar]") {
  std::mt19937_64 random(7);
  std::array<int, 4> seen{};
  const BestAgain best_again;
  for (const std::string_view set : instruction_sets()) {
    use_instruction_set(set);
    for (int round = 0; round < 10'000; ++round) {
      RandomAccess access(random, 4);
      LaneAddresses& a = access.a;
      if (a.wide && a.wraps) continue;
      a.lanes = 0xffffffff;
      std::vector<std::uint8_t> memory(std::size_t{a.last} + 4);
      for (std::uint8_t& byte : memory) byte = static_cast<std::uint8_t>(random());
      std::vector<std::uint16_t> map(memory.size() / 16 + 2, 0xffff);
      const std::uint32_t missing = access.offset(random() % 32) + static_cast<std::uint32_t>(random() % 40) - 20;
      if (missing < memory.size()) map[missing / 16] = static_cast<std::uint16_t>(map[missing / 16] & ~(1u << missing % 16));
      const std::uint16_t* const bits = random() % 2 != 0 ? map.data() : nullptr;
      alignas(64) Words row;
      for (std::uint32_t& word : row) word = static_cast<std::uint32_t>(random());
      alignas(64) Words loaded = row, into = row, unread = row;
      std::vector<std::uint8_t> stored = memory, to = memory;
      const LanePattern wanted =
          bits == nullptr ? expected(access.row.wide, a) : scalar::load_lane_words_in(bits, a, memory.data(), unread.data());
      const bool loads = wanted == LanePattern::consecutive || wanted == LanePattern::same, stores = wanted == LanePattern::consecutive;
      if (loads) scalar::load_lane_words(a, memory.data(), loaded.data());
      if (stores) scalar::store_lane_words(a, stored.data(), row.data());
      CAPTURE(set, round, missing, static_cast<int>(wanted));
      const auto add = static_cast<std::uint32_t>(a.add);
      REQUIRE((a.wide ? scalar::load_row_by_wides(a.base, a.add, a.last, memory.data(), into.data(), bits)
                      : scalar::load_row_by_words(a.base, add, a.last, memory.data(), into.data(), bits)) == loads);
      REQUIRE(into == loaded);
      REQUIRE((a.wide ? scalar::store_row_by_wides(a.base, a.add, a.last, to.data(), row.data(), bits)
                      : scalar::store_row_by_words(a.base, add, a.last, to.data(), row.data(), bits)) == stores);
      REQUIRE(to == stored);
      ++seen[static_cast<std::size_t>(wanted)];
    }
  }
  for (const int count : seen) CHECK(count > 100);
}

TEST_CASE("the range of a warp's offsets reaches from the least to the largest, and is whole where each lane has its own part",
          "[scalar]") {
  std::mt19937_64 random(3);
  std::array<int, 2> seen{};
  const BestAgain best_again;
  for (const std::string_view set : instruction_sets()) {
    use_instruction_set(set);
    for (int round = 0; round < 5'000; ++round) {
      const std::uint32_t bytes = 1u << random() % 6, start = static_cast<std::uint32_t>(random() % 1024) * bytes;
      alignas(64) Words offsets;
      for (std::uint32_t lane = 0; lane < 32; ++lane) offsets[lane] = start + lane * bytes;
      std::shuffle(offsets.begin(), offsets.end(), random);
      const std::size_t lane = random() % 32, other = random() % 32;
      switch (random() % 7) {
        case 0: offsets[lane] = offsets[other]; break;  // twice, and one is missing
        case 1: offsets[lane] += bytes * static_cast<std::uint32_t>(random() % 64); break;
        case 2:
          for (std::uint32_t& offset : offsets) offset = start + static_cast<std::uint32_t>(random() % 32) * bytes;
          break;
        case 3:  // the ends are those of a range, and its middle is not
          offsets = {start, start + 31 * bytes};
          std::fill(offsets.begin() + 2, offsets.end(), start + static_cast<std::uint32_t>(random() % 32) * bytes);
          break;
        case 4:  // rows of a padded tile
          for (std::uint32_t lane_of = 0; lane_of < 32; ++lane_of) offsets[lane_of] = start + (lane_of + lane_of / 4) * bytes;
          break;
        default: break;
      }
      Words sorted = offsets;
      std::ranges::sort(sorted);
      bool whole = true;
      for (std::size_t i = 1; i < 32; ++i) whole &= sorted[i] == sorted[i - 1] + bytes;
      CAPTURE(set, round);
      scalar::LaneRange range{};
      scalar::find_lane_range(offsets.data(), bytes, range);
      REQUIRE(range.first == sorted.front());
      REQUIRE(range.last == sorted.back());
      REQUIRE(range.whole == whole);
      for (std::size_t i = 0; i < 32; ++i) REQUIRE((range.runs >> i & 1) == (i == 0 || offsets[i] != offsets[i - 1] + bytes ? 1u : 0u));
      for (std::size_t i = 0; i < 32; ++i) REQUIRE((range.rises >> i & 1) == (i != 0 && offsets[i] > offsets[i - 1] ? 1u : 0u));
      ++seen[whole ? 1 : 0];
    }
  }
  for (const int count : seen) CHECK(count > 1000);
}

TEST_CASE("each lane's address and place are its offset behind the first ones", "[scalar]") {
  alignas(64) Words offsets;
  for (std::uint32_t lane = 0; lane < 32; ++lane) offsets[lane] = 0xffffff00 + lane * 5;
  const auto* const memory = reinterpret_cast<const std::uint8_t*>(std::uintptr_t{0x7000'0000'0000});
  const BestAgain best_again;
  for (const std::string_view set : instruction_sets()) {
    use_instruction_set(set);
    alignas(64) std::array<std::uint64_t, 32> addresses{};
    alignas(64) std::array<const std::uint8_t*, 32> places{};
    scalar::find_lane_places(offsets.data(), 0x7f00'0000'1000, memory, addresses.data(), places.data());
    INFO(set);
    for (std::size_t lane = 0; lane < 32; ++lane) {
      CHECK(addresses[lane] == 0x7f00'0000'1000 + std::uint64_t{offsets[lane]});
      CHECK(places[lane] == memory + offsets[lane]);
    }
  }
}

TEST_CASE("words at offsets beyond 2 GB are those of their lanes", "[scalar]") {
  constexpr std::uint32_t far = 0x80000000;
  alignas(64) std::array<std::uint32_t, 64> words{};
  alignas(64) Words offsets{}, row{};
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = static_cast<std::uint32_t>(100 + i);
  for (std::uint32_t lane = 0; lane < 32; ++lane) offsets[lane] = far + lane * 7 % 64 * 4;
  const auto* const memory = reinterpret_cast<const std::uint8_t*>(reinterpret_cast<std::uintptr_t>(words.data()) - far);
  const BestAgain best_again;
  for (const std::string_view set : instruction_sets()) {
    use_instruction_set(set);
    row.fill(0);
    scalar::load_words_at(offsets.data(), 0xffffffff, memory, row.data());
    INFO(set);
    for (std::uint32_t lane = 0; lane < 32; ++lane) CHECK(row[lane] == 100 + lane * 7 % 64);
  }
}

}  // namespace
}  // namespace warpmat::lane_offsets_test
