// Races of lanes of one warp: the detector against sets of known events, and kernels.

#include <warpmat/checks/lane_races.h>

#include "machine/kernel.h"
#include "test.h"

namespace warpmat::lane_races_test {
namespace {

using checks::LaneRaces;

/// Which accesses each lane comes after, as sets of their numbers.
class Oracle {
 public:
  /// Whether an access races with any earlier one.
  bool races(int lane, std::size_t byte, bool writes) {
    bool found = false;
    for (const Access& earlier : accesses_)
      found |= earlier.byte == byte && earlier.lane != lane && (earlier.writes || writes) && !known_[lane].contains(earlier.number);
    known_[lane].insert(static_cast<int>(accesses_.size()));
    accesses_.push_back({lane, byte, writes, static_cast<int>(accesses_.size())});
    return found;
  }
  void meet(LaneMask lanes) {
    std::set<int> all;
    for (int lane = 0; lane < warp_size; ++lane)
      if ((lanes & lane_bit(lane)) != 0) all.insert(known_[lane].begin(), known_[lane].end());
    for (int lane = 0; lane < warp_size; ++lane)
      if ((lanes & lane_bit(lane)) != 0) known_[lane] = all;
  }

 private:
  struct Access {
    int lane;
    std::size_t byte;
    bool writes;
    int number;
  };
  std::vector<Access> accesses_;
  std::map<int, std::set<int>> known_;
};

/// A kernel of 32 threads, whose words of `tile` are at %a; %t is the thread, and %b the address of the next thread's word.
std::vector<std::string> warnings_of(const std::string& body, const Checks& checks = {.races = true}, std::uint32_t threads = 32) {
  const Module module = word_kernel(R"(
    .shared .align 16 .b8 tile[2048];
    .reg .b32 %t, %a, %b, %v;
    mov.u32 %t, %tid.x;
    shl.b32 %a, %t, 2;
    xor.b32 %b, %a, 4;
    mov.u32 %v, tile;
    add.u32 %a, %a, %v;
    add.u32 %b, %b, %v;
)" + body,
                                    "sm_90a");
  DeviceMemory memory;
  const std::uint64_t out = memory.allocate(4 * threads, "out");
  return launch(Kernel(module, "k"), {{1}, {threads}}, memory, {out}, {.checks = checks}).warnings;
}

const std::string store = "st.shared.u32 [%a], %t;", load = "ld.shared.u32 %d, [%b];";

TEST_CASE("the detector of races within a warp reports races alone, and those that follow each other", "[checks][races]") {
  std::mt19937 random(3);
  int found = 0, missed = 0, of_words = 0;
  for (int run = 0; run < 300; ++run) {
    LaneRaces races(64, 1);
    Oracle oracle;
    for (int i = 0; i < 60; ++i) {
      const int lane = static_cast<int>(random() % 4);
      const std::size_t byte = random() % 3 * 4;
      const bool writes = random() % 2 == 0;
      if (random() % 3 == 0) {
        const LaneMask lanes = random() % 2 == 0 ? all_lanes : static_cast<LaneMask>(1 + random() % 15);
        races.meet(0, lanes);
        oracle.meet(lanes);
        continue;
      }
      const LaneRaces::Access access{0, lane, static_cast<std::uint32_t>(i), false};
      checks::SharedAccess words{access.statement, 0, 4, lane_bit(lane), {}};
      words.offsets[static_cast<std::size_t>(lane)] = static_cast<std::uint32_t>(byte);
      const bool together = random() % 2 == 0 && (writes ? races.write_words(0, words) : races.defer(0, words));
      const auto conflict = together ? std::nullopt : writes ? races.write(access, byte, 4) : races.read(access, byte, 4);
      of_words += together;
      const bool expected = oracle.races(lane, byte, writes);
      if (conflict) REQUIRE(expected);
      found += conflict.has_value();
      missed += expected && !conflict;
    }
  }
  CHECK(found > 2000);
  CHECK(of_words > 1000);
  CHECK(missed < found);  // it keeps the last accesses alone
}

TEST_CASE("lanes of a warp that exchange words without meeting are a warning with both places", "[checks][races]") {
  const std::string legal[] = {
      "bar.warp.sync -1;",
      "bar.sync 0;",
      "shfl.sync.idx.b32 %v, %t, 0, 31, -1;",
      "vote.sync.ballot.b32 %v, 1, -1;",
      "redux.sync.add.s32 %v, %t, -1;",
      "match.any.sync.b32 %v, %t, -1;",
      "{ .reg .b32 %m<4>; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%m0}, [tile + 1024]; }",
  };
  const std::string none[] = {"", "add.u32 %v, %v, 1;", "membar.cta;", "bar.warp.sync 1;", "activemask.b32 %v;"};
  for (const std::string& between : none) {
    const std::string masked = between == "bar.warp.sync 1;" ? "setp.eq.u32 %p1, %t, 0; @%p1 bar.warp.sync 1;" : between;
    for (const std::string& body :
         {store + masked + load, load + masked + store, "ld.shared.u32 %d, [%a];" + masked + "st.shared.u32 [%b], %t;"}) {
      INFO(body);
      const auto warnings = warnings_of(body, {.uninitialised = false, .races = true});
      REQUIRE(warnings.size() == 1);
      CHECK(contains(warnings[0], "race within the warp"));
      CHECK(contains(warnings[0], "of lane"));
    }
  }
  for (const std::string& between : legal) {
    INFO(between);
    CHECK(warnings_of(store + between + load, {.uninitialised = false, .races = true}).empty());
    CHECK(warnings_of(load + between + store, {.uninitialised = false, .races = true}).empty());
  }
  CHECK(warnings_of(store + load, {}).empty());
}

TEST_CASE("halves of a warp that meet apart, and words by which lanes wait, order what they should", "[checks][races]") {
  const auto in_halves = [](const std::string& partner) {  // a mask of one half each
    return "shl.b32 %v, 0xffff, 0; setp.gt.u32 %p1, %t, 15; @%p1 mov.u32 %v, 0xffff0000;" + store + "bar.warp.sync %v;" +
           fmt::format("shl.b32 %b, %t, 2; xor.b32 %b, %b, {}; mov.u32 %r1, tile; add.u32 %b, %b, %r1;", partner) + load;
  };
  CHECK(warnings_of(in_halves("4")).empty());
  CHECK(warnings_of(in_halves("64")).size() == 1);
  CHECK(warnings_of("atom.shared.add.u32 %d, [tile], 1;", {.uninitialised = false, .races = true}).empty());
  const std::string zero = "setp.eq.u32 %p1, %t, 0; @%p1 st.shared.u32 [tile], 0;";
  CHECK(warnings_of(zero + "atom.shared.add.u32 %d, [tile], 1;").size() == 1);
  CHECK(warnings_of(zero + "bar.warp.sync -1; atom.shared.add.u32 %d, [tile], 1;").empty());
  CHECK(warnings_of("st.shared.u32 [tile + 512], 7; bar.warp.sync -1; ld.shared.u32 %d, [tile + 512];").empty());  // all store one word
}

TEST_CASE("a warp's own races do not depend on other warps", "[checks][races]") {
  CHECK(warnings_of(store + "bar.sync 0;" + load + "bar.sync 0;" + store + "bar.warp.sync -1;" + load, {.races = true}, 128).empty());
  CHECK(warnings_of(store + "bar.sync 0;" + load + store, {.races = true}, 128).size() == 1);
}

}  // namespace
}  // namespace warpmat::lane_races_test
