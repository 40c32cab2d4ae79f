#include <warpmat/checks/shared_shadow.h>

#include "machine/kernel.h"
#include "test.h"

namespace warpmat::shared_shadow_test {
namespace {

using checks::SharedShadow;
using State = SharedShadow::Copy::State;

constexpr std::size_t bytes = 1600;

/// The same, byte by byte.
struct Byte {
  bool defined = false;
  State state = State::none;
  int warp = 0;
};
struct Oracle {
  std::vector<Byte> all = std::vector<Byte>(bytes);

  void define(std::size_t offset, std::size_t count) {
    for (std::size_t i = offset; i < offset + count; ++i) all[i].defined = true;
  }
  void begin(std::size_t offset, std::size_t count, int warp) {
    for (std::size_t i = offset; i < offset + count; ++i) all[i] = {false, State::pending, warp};
  }
  void land(std::size_t offset, std::size_t count) {
    for (std::size_t i = offset; i < offset + count; ++i) all[i].state = State::landed;
  }
  void publish(int warp) {
    for (Byte& byte : all)
      if (byte.state == State::landed && byte.warp == warp) byte.defined = true, byte.state = State::none;
  }
  bool undefined(std::size_t offset, std::size_t count) const {
    return std::any_of(all.begin() + static_cast<std::ptrdiff_t>(offset), all.begin() + static_cast<std::ptrdiff_t>(offset + count),
                       [](const Byte& byte) { return !byte.defined; });
  }
};

struct Copy {
  alignas(64) std::array<const std::uint8_t*, 32> places{};  // as those of the machine
  LaneMask mask = 0;
  std::uint32_t bytes = 16;
  int warp = 0;
};

TEST_CASE("Copies of whole warps leave the shadow that their lanes leave", "[checks][copies]") {
  std::vector<std::uint8_t> memory(bytes);
  int ranges = 0, repeats = 0, undefined = 0, pages = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
    SharedShadow shadow(memory.data(), bytes);
    Oracle oracle;
    std::vector<Copy> pending;
    for (int step = 0; step < 150; ++step) {
      switch (below(6)) {
        case 0:
        case 1: {  // mostly a permutation of one range, as of a swizzled tile, or the same padded rows; never over bytes of a pending copy
          Copy copy{.warp = static_cast<int>(below(3))};
          const std::size_t kind = below(9);
          const bool range = kind < 3, rows = !range && kind < 8;
          copy.bytes = range || rows || below(2) == 0 ? 16 : 4;
          std::array<std::size_t, 32> places{};
          const std::size_t first = rows ? below(16) == 0 ? 48 : 640 * below(2) : 16 * below((bytes - 512) / 16 + 1);
          for (std::size_t lane = 0; lane < 32; ++lane)
            places[lane] = range  ? first + 16 * lane
                           : rows ? first + 80 * (lane / 4) + 16 * (lane % 4)
                                  : copy.bytes * below(bytes / copy.bytes);
          if (!rows) std::shuffle(places.begin(), places.end(), random);
          for (std::size_t lane = 0; lane < 32; ++lane) {
            const std::size_t end = places[lane] + copy.bytes;
            const bool busy = std::any_of(oracle.all.begin() + static_cast<std::ptrdiff_t>(places[lane]),
                                          oracle.all.begin() + static_cast<std::ptrdiff_t>(end),
                                          [](const Byte& byte) { return byte.state == State::pending; });
            const bool twice = std::find(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(lane), places[lane]) !=
                               places.begin() + static_cast<std::ptrdiff_t>(lane);
            if (!busy && !twice) copy.mask |= LaneMask{1} << lane;
            copy.places[lane] = memory.data() + places[lane];
          }
          ranges += range && copy.mask == all_lanes ? 1 : 0;
          repeats += rows && copy.mask == all_lanes ? 1 : 0;
          shadow.begin_copies(copy.places, copy.bytes, copy.mask, copy.warp, 7);
          for (std::size_t lane = 0; lane < 32; ++lane)
            if ((copy.mask >> lane & 1) != 0) oracle.begin(places[lane], copy.bytes, copy.warp);
          pending.push_back(copy);
          break;
        }
        case 2: {
          if (pending.empty()) break;
          Copy copy = pending.front();
          pending.erase(pending.begin());
          if (below(8) == 0) {  // some lanes wait, and others later
            pending.push_back(copy);
            copy.mask &= static_cast<LaneMask>(random());
            pending.back().mask &= ~copy.mask;
          }
          shadow.land_copies(copy.places, copy.bytes, copy.mask, copy.warp);
          for (std::size_t lane = 0; lane < 32; ++lane)
            if ((copy.mask >> lane & 1) != 0) oracle.land(static_cast<std::size_t>(copy.places[lane] - memory.data()), copy.bytes);
          break;
        }
        case 3: {
          const int warp = static_cast<int>(below(3));
          shadow.publish(warp);
          oracle.publish(warp);
          break;
        }
        case 4: {
          const bool page = below(3) == 0;
          const std::size_t offset = page ? below(16) : below(bytes);
          const std::size_t count = page ? 1024 : 1 + below(std::min<std::size_t>(bytes - offset, 200));
          shadow.define(offset, count);
          oracle.define(offset, count);
          break;
        }
        default: {
          alignas(64) std::array<const std::uint8_t*, 32> places{};
          alignas(64) std::array<std::uint32_t, 32> offsets{};
          const std::uint32_t size = 4u << below(4);
          const std::size_t first = size * below(bytes / size), pitch = size * below(4), row = below(2) == 0 ? 4 : 32;
          LaneMask expected = 0;
          for (std::size_t lane = 0; lane < 32; ++lane) {
            const std::size_t place = (first + pitch * (lane % row) + 96 * (lane / row)) % bytes;
            places[lane] = memory.data() + place;
            offsets[lane] = static_cast<std::uint32_t>(place);
            expected |= LaneMask{oracle.undefined(place, size)} << lane;
          }
          scalar::LanePlaces lanes{offsets.data(), {}};
          scalar::find_lane_range(offsets.data(), size, lanes.range);
          if (below(4) == 0) {
            shadow.define(lanes, size);
            for (const std::uint32_t place : offsets) oracle.define(place, size);
            expected = 0;
          }
          REQUIRE(shadow.undefined(places, size, all_lanes) == expected);
          REQUIRE(shadow.surely_defined(lanes, size) == (expected == 0));
          undefined += expected != 0 ? 1 : 0;
        }
      }
      REQUIRE(shadow.complete() == !oracle.undefined(0, bytes));
      const std::size_t offset = below(bytes), count = 1 + below(bytes - offset);
      const std::size_t page = 1024, from = offset / page * page, to = std::min((offset + count + page - 1) / page * page, bytes);
      REQUIRE(shadow.pages_defined(offset, count) == !oracle.undefined(from, to - from));
      pages += shadow.pages_defined(offset, count) ? 1 : 0;
      for (std::size_t i = 0; i < bytes; i += 4 * (1 + below(8))) {
        REQUIRE(shadow.undefined(i, 1) == oracle.undefined(i, 1));
        const auto copy = shadow.conflict(i, 4, 3, false);
        REQUIRE(copy.state == oracle.all[i].state);
        if (copy.state != State::none) REQUIRE(copy.warp == oracle.all[i].warp);
      }
    }
  }
  CHECK(ranges > 200);
  CHECK(repeats > 200);
  CHECK(undefined > 1000);
  CHECK(pages > 100);
}

TEST_CASE("Copies of warps that race for the same places leave the shadow that their lanes leave", "[checks][copies]") {
  std::vector<std::uint8_t> memory(bytes);
  const auto rows = [&](std::size_t first, std::size_t pitch) {
    Copy copy;
    for (std::size_t lane = 0; lane < 32; ++lane) copy.places[lane] = memory.data() + first + pitch * (lane / 4) + 16 * (lane % 4);
    return copy;
  };
  const Copy one = rows(0, 80), other = rows(0, 96);
  const auto begin = [](SharedShadow& shadow, const Copy& copy, int warp) { shadow.begin_copies(copy.places, 16, all_lanes, warp, 7); };
  const auto land = [](SharedShadow& shadow, const Copy& copy, int warp) { shadow.land_copies(copy.places, 16, all_lanes, warp); };
  SECTION("the same places: one warp's copy lands behind the other's, which all warps may read") {
    SharedShadow shadow(memory.data(), bytes);
    begin(shadow, one, 0);
    begin(shadow, one, 1);
    land(shadow, one, 1);
    shadow.publish(1);
    CHECK_FALSE(shadow.undefined(80, 64));
    land(shadow, one, 0);
    CHECK_FALSE(shadow.undefined(80, 64));
    CHECK(shadow.conflict(80, 16, 3, false).state == State::landed);
    begin(shadow, one, 0);
    CHECK(shadow.undefined(80, 64));
    CHECK(shadow.conflict(80, 16, 3, false).state == State::pending);
  }
  SECTION("the same places: each warp's own landing lets it publish them, as they are the last one's") {
    for (const std::size_t pitch : {64u, 80u}) {
      const Copy tile = rows(0, pitch);
      for (const int first : {0, 1}) {
        CAPTURE(pitch, first);
        SharedShadow shadow(memory.data(), bytes);
        begin(shadow, tile, 0);
        begin(shadow, tile, 1);
        land(shadow, tile, first);
        land(shadow, tile, 1 - first);
        shadow.publish(0);
        CHECK(shadow.undefined(pitch, 64));
        shadow.publish(1);
        for (std::size_t row = 0; row < 8; ++row) CHECK_FALSE(shadow.undefined(row * pitch, 64));
        CHECK(shadow.conflict(pitch, 64, 3, false).state == State::none);
      }
    }
    for (const int first : {0, 1})
      for (const std::size_t size : {4u, 512u}) {  // not copied by whole warps
        CAPTURE(first, size);
        SharedShadow shadow(memory.data(), bytes);
        for (const int warp : {0, 1}) shadow.begin_copy(0, size, warp, 7);
        for (const int warp : {first, 1 - first}) shadow.land_copy(0, size, warp);
        shadow.publish(0);
        CHECK(shadow.undefined(0, size));
        shadow.publish(1);
        CHECK_FALSE(shadow.undefined(0, size));
      }
  }
  SECTION("some of the places: what lands are the lanes' own") {
    SharedShadow shadow(memory.data(), bytes);
    begin(shadow, one, 0);
    begin(shadow, other, 1);
    begin(shadow, one, 0);
    land(shadow, other, 1);
    CHECK(shadow.conflict(0, 16, 3, false).state == State::landed);
    CHECK(shadow.conflict(80, 16, 3, false).state == State::pending);
    CHECK(shadow.conflict(96, 16, 3, false).state == State::landed);
    CHECK(shadow.conflict(96 * 7, 16, 3, false).state == State::landed);
  }
  SECTION("some of the places, so often that there are no footprints any more") {
    SharedShadow shadow(memory.data(), bytes);
    const auto defined = [&](std::size_t pitch) {
      for (std::size_t row = 0; row < 8; ++row)
        if (shadow.undefined(row * pitch, 64)) return false;
      return true;
    };
    for (int round = 0; round < 1100; ++round) {
      CAPTURE(round);
      begin(shadow, one, 0);
      REQUIRE(shadow.conflict(80, 16, 3, false).state == State::pending);
      begin(shadow, other, 1);
      land(shadow, other, 1);
      shadow.publish(1);
      REQUIRE(defined(96));
      REQUIRE(shadow.conflict(80, 16, 3, false).state == State::pending);
      land(shadow, one, 0);
      shadow.publish(0);
      REQUIRE(defined(80));
    }
  }
}

TEST_CASE("A variable that begins inside of sixteen bytes is found in ranges that have it", "[checks][copies]") {
  std::vector<std::uint8_t> memory(bytes);
  SharedShadow shadow(memory.data(), bytes);
  CHECK_FALSE(shadow.has_starts(0, bytes));
  shadow.add_start(256);  // no access of 16 bytes crosses it
  shadow.add_start(520);
  CHECK_FALSE(shadow.has_starts(0, 512));
  CHECK(shadow.has_starts(0, 513));
  CHECK(shadow.has_starts(512, 16));
  CHECK_FALSE(shadow.has_starts(528, bytes - 528));
}

TEST_CASE("No bytes are initialised bytes, wherever they are", "[checks]") {
  const std::vector<std::uint8_t> memory(bytes);
  SharedShadow shadow(memory.data(), memory.size());
  for (const bool defined : {false, true}) {
    if (defined) shadow.define(0, bytes);
    for (const std::size_t offset : {std::size_t{0}, std::size_t{16}, bytes}) {
      CHECK(shadow.pages_defined(offset, 0));
      CHECK_FALSE(shadow.undefined(offset, 0));
    }
  }
}

TEST_CASE("bytes that lanes initialise by offsets are those that they find initialised", "[checks]") {
  std::mt19937 random(3);
  std::array<int, 2> seen{};
  for (int round = 0; round < 200; ++round) {
    const std::vector<std::uint8_t> memory(bytes);
    SharedShadow shadow(memory.data(), memory.size());
    Oracle oracle;
    for (int step = 0; step < 60; ++step) {
      const std::uint32_t size = 1u << random() % 5;
      alignas(64) std::array<std::uint32_t, 32> offsets;
      const auto near = static_cast<std::uint32_t>(random() % 64) * 16;
      for (std::uint32_t& offset : offsets) offset = near + static_cast<std::uint32_t>(random() % (512 / size)) * size;
      REQUIRE(SharedShadow::are_in_cells(offsets.data(), size));
      const bool undefined = std::any_of(offsets.begin(), offsets.end(), [&](std::uint32_t at) { return oracle.undefined(at, size); });
      REQUIRE(shadow.lanes_defined(offsets.data(), size) == !undefined);
      ++seen[undefined ? 1 : 0];
      if (step % 2 == 0) continue;
      shadow.define_lanes(offsets.data(), size);
      for (const std::uint32_t at : offsets) oracle.define(at, size);
      for (std::size_t at = 0; at < bytes; ++at) REQUIRE(shadow.undefined(at, 1) == oracle.undefined(at, 1));
    }
  }
  for (const int count : seen) CHECK(count > 500);
}

TEST_CASE("bytes that others enter in the map are initialised, and a page is when all of its bytes are", "[checks]") {
  std::mt19937 random(7);
  const std::vector<std::uint8_t> memory(bytes);
  SharedShadow shadow(memory.data(), memory.size());
  Oracle oracle;
  shadow.let_others_define();
  int whole = 0;
  for (int step = 0; step < 40000; ++step) {
    const std::size_t at = random() % (bytes / 16) * 16;
    switch (step % 1000 == 999 ? 3 : random() % 8) {
      case 0: shadow.define(at, 16), oracle.define(at, 16); break;
      case 1: {
        const std::size_t one = random() % 50 == 0 ? at : 0;
        shadow.undefine(one, 1), oracle.all[one].defined = false;
        break;
      }
      case 3:
        for (std::size_t all = 0; all < bytes; all += 16) shadow.define(all, 16), oracle.define(all, 16);
        break;
      default: const_cast<SharedShadow::Cell*>(shadow.map())[at / 16] = 0xffff, oracle.define(at, 16);
    }
    const std::size_t first = at / 1024 * 1024, page = std::min<std::size_t>(1024, bytes - first);
    bool all = true;
    for (std::size_t byte = first; byte < first + page; ++byte) all = all && !oracle.undefined(byte, 1);
    REQUIRE(shadow.pages_defined(first, page) == all);
    if (shadow.complete()) REQUIRE_FALSE(oracle.undefined(0, bytes));
    whole += all;
  }
  CHECK(whole > 1000);
  CHECK(whole < 39000);
}

TEST_CASE("a word of a tile that no lane has stored is found by loads of rows, columns, and parts of a warp", "[checks]") {
  // Lane i stores the word at first + step * i, but lane `absent` does not. Then the lanes load the same words.
  const auto reads = [](int first, int step, int absent, const char* guard) {
    const std::string at = std::to_string(4 * first), stride = std::to_string(4 * step);
    const Module module =
        word_kernel(".shared .align 16 .b8 tile[8192]; .reg .pred %here, %some; setp.ne.u32 %here, %i, " + std::to_string(absent) +
                    "; setp.lt.u32 %some, %i, 20; mov.u32 %d, 0; mov.u32 %r1, 1; mov.u32 %r3, tile; mad.lo.u32 %r2, %i, " + stride +
                    ", %r3; @%here st.shared.u32 [%r2+" + at + "], %r1; bar.sync 0; " + guard + " ld.shared.u32 %d, [%r2+" + at + "];");
    return message_of([&] { words_of(module, {1}, {32}); });
  };
  for (const int first : {0, 1, 3, 5, 250})
    for (const int step : {1, 2, 33})
      for (const int absent : {0, 1, 13, 19, 20, 31, 32}) {
        CAPTURE(first, step, absent);
        CHECK((reads(first, step, absent, "") == "nothing") == (absent == 32));
        CHECK((reads(first, step, absent, "@%some") == "nothing") == (absent >= 20));
      }
}

TEST_CASE("a row that a warp stores initialises its own bytes and no others", "[checks]") {
  for (const int each : {1, 2, 4, 8})
    for (const int first : {8, 16, 24, 64, 72, 120, 128, 200}) {
      const int last = first + 32 * each - 1;
      const std::string size = std::to_string(each), row = std::to_string(first);
      const std::string value = each == 1 || each == 2 ? "%s1" : each == 4 ? "%r1" : "%l1";
      const auto reads = [&](int at) {
        const Module module =
            word_kernel(".shared .align 16 .b8 tile[1024]; mov.u16 %s1, 1; mov.u32 %r1, 1; mov.u64 %l1, 1; mad.lo.u32 %r2, %i, " + size +
                        ", " + row + "; mov.u32 %r3, tile; add.u32 %r2, %r2, %r3; st.shared.u" + std::to_string(8 * each) + " [%r2], " +
                        value + "; ld.shared.u8 %d, [tile+" + std::to_string(at) + "];");
        return message_of([&] { words_of(module, {1}, {32}); });
      };
      CAPTURE(each, first);
      for (const int at : {first, first + 16 * each, last}) CHECK(reads(at) == "nothing");
      for (const int at : {first - 1, last + 1}) CHECK(reads(at).find("uninitialised") != std::string::npos);
    }
}

}  // namespace
}  // namespace warpmat::shared_shadow_test
