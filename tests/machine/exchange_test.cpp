
#include "machine/kernel.h"
#include "test.h"

namespace warpmat::exchange_test {
namespace {

/// What each lane of one warp has after `body`.
std::vector<std::uint32_t> lanes_after(const std::string& body) {
  return words_of(word_kernel(body), {1}, {32});
}

/// The lane that lane `i` reads, and whether it is in range: __shfl_sync of the CUDA programming guide, written for segments of `width`
/// lanes.
std::pair<int, bool> source_lane(char mode, int i, int b, int width) {
  const int first = i / width * width;
  switch (mode) {
    case 'u': return i - b >= first ? std::pair{i - b, true} : std::pair{i, false};
    case 'd': return i + b < first + width ? std::pair{i + b, true} : std::pair{i, false};
    case 'b': return (i ^ b) < first + width ? std::pair{i ^ b, true} : std::pair{i, false};
    default: return {first + b % width, true};
  }
}

TEST_CASE("shfl reads the lane that the CUDA guide says, in segments of every width", "[machine][exchange]") {
  for (const char* mode : {"up", "down", "bfly", "idx"})
    for (const int width : {32, 16, 8, 4, 2})
      for (const int b : {0, 1, 3, 7, 17, 31}) {
        const int c = (32 - width) << 8 | (mode[0] == 'u' ? 0 : 31);
        const auto found = lanes_after("mul.lo.u32 %r1, %i, 5; shfl.sync." + std::string(mode) + ".b32 %r2|%p1, %r1, " + std::to_string(b) +
                                       ", " + std::to_string(c) + ", -1; selp.u32 %r3, 1000, 0, %p1; add.u32 %d, %r2, %r3;");
        for (int i = 0; i < 32; ++i) {
          const auto [from, good] = source_lane(mode[0], i, b, width);
          INFO(mode << " width " << width << " b " << b << " lane " << i);
          CHECK(found[static_cast<std::size_t>(i)] == static_cast<std::uint32_t>(5 * from + (good ? 1000 : 0)));
        }
      }
}

TEST_CASE("match finds the lanes of one value, of words and of 64 bits", "[machine][exchange]") {
  // %r1 is 0 to `values` - 1, scattered over the lanes; the word of 64 bits has it above bit 32
  for (const std::uint32_t values : {1u, 2u, 3u, 8u, 31u, 64u})
    for (const std::uint32_t mask : {0xffffffffu, 0xfffffu, 0x80000001u, 0x12345678u}) {
      const std::string named = std::to_string(mask);
      const std::string part = "mul.lo.u32 %r1, %i, 7; rem.u32 %r1, %r1, " + std::to_string(values) + "; shr.u32 %r4, " + named +
                               ", %i; and.b32 %r4, %r4, 1; setp.ne.u32 %p1, %r4, 0; mov.u32 %d, 0; mov.b64 %l1, {%i, %r1}; "
                               "and.b64 %l1, %l1, 0xffffffff00000003; @!%p1 bra END; ";
      const auto any = lanes_after(part + "match.any.sync.b32 %d, %r1, " + named + "; END:");
      const auto any_64 = lanes_after(part + "match.any.sync.b64 %d, %l1, " + named + "; END:");
      const auto all =
          lanes_after(part + "match.all.sync.b32 %r2|%p2, %r1, " + named + "; selp.u32 %r3, 1, 0, %p2; xor.b32 %d, %r2, %r3; END:");
      const auto value = [&](std::uint32_t lane) { return 7 * lane % values; };
      for (std::uint32_t lane = 0; lane < 32; ++lane) {
        if ((mask >> lane & 1) == 0) continue;
        std::uint32_t same = 0, same_64 = 0;
        for (std::uint32_t other = 0; other < 32; ++other) {
          const std::uint32_t bit = mask & 1u << other;
          same |= value(other) == value(lane) ? bit : 0;
          same_64 |= value(other) == value(lane) && other % 4 == lane % 4 ? bit : 0;
        }
        CAPTURE(values, mask, lane);
        CHECK(any[lane] == same);
        CHECK(any_64[lane] == same_64);
        CHECK(all[lane] == (same == mask ? mask ^ 1 : 0));
      }
    }
}

TEST_CASE("votes, matches, reductions, elect and activemask see the lanes of their mask", "[machine][exchange]") {
  const std::string part = "setp.lt.u32 %p1, %i, 20; @!%p1 bra MEET; ";
  const std::string end = " MEET:";
  CHECK(lanes_after(part + "setp.gt.u32 %p2, %i, 3; vote.sync.ballot.b32 %d, %p2, 0xfffff;" + end)[7] == 0xffff0);
  CHECK(lanes_after(part + "setp.gt.u32 %p2, %i, 3; vote.sync.any.pred %p3, %p2, 0xfffff; selp.u32 %d, 1, 2, %p3;" + end)[0] == 1);
  CHECK(lanes_after(part + "setp.gt.u32 %p2, %i, 3; vote.sync.all.pred %p3, %p2, 0xfffff; selp.u32 %d, 1, 2, %p3;" + end)[0] == 2);
  CHECK(lanes_after(part + "setp.gt.u32 %p2, %i, 99; vote.sync.uni.pred %p3, !%p2, 0xfffff; selp.u32 %d, 1, 2, %p3;" + end)[0] == 1);
  CHECK(lanes_after(part + "shr.u32 %r1, %i, 2; match.any.sync.b32 %d, %r1, 0xfffff;" + end)[9] == 0xf00);
  CHECK(lanes_after(part + "shr.u32 %r1, %i, 2; match.all.sync.b32 %r2|%p4, %r1, 0xfffff; selp.u32 %d, 1, 2, %p4;" + end)[9] == 2);
  CHECK(lanes_after(part + "redux.sync.add.u32 %d, %i, 0xfffff;" + end)[3] == 190);
  CHECK(lanes_after(part + "sub.s32 %r1, 5, %i; redux.sync.min.s32 %d, %r1, 0xfffff;" + end)[3] == static_cast<std::uint32_t>(-14));
  CHECK(lanes_after(part + "redux.sync.xor.b32 %d, %i, 0xfffff;" + end)[3] == 0);
  const auto elected = lanes_after(part + "elect.sync %r1|%p2, 0xfffff; selp.u32 %d, 100, 200, %p2; add.u32 %d, %d, %r1;" + end);
  CHECK(elected[0] == 100);
  CHECK(elected[1] == 200);
  CHECK(lanes_after(part + "activemask.b32 %d;" + end)[2] == 0xfffff);
}

TEST_CASE("redux combines the words of the lanes of its mask, and no others", "[machine][exchange]") {
  using Word = std::uint32_t;
  struct Case {
    const char* operation;
    Word (*combine)(Word a, Word b);
  };
  const auto word_of = [](Word lane) { return (lane * 2654435761u) ^ (lane << 27); };
  const std::string values = "mul.lo.u32 %r1, %i, 2654435761; shl.b32 %r2, %i, 27; xor.b32 %r1, %r1, %r2; ";
  for (const Case& c :
       {Case{"add.u32", [](Word a, Word b) { return a + b; }}, Case{"add.s32", [](Word a, Word b) { return a + b; }},
        Case{"min.u32", [](Word a, Word b) { return std::min(a, b); }}, Case{"max.u32", [](Word a, Word b) { return std::max(a, b); }},
        Case{"min.s32", [](Word a, Word b) { return static_cast<Word>(std::min(static_cast<int>(a), static_cast<int>(b))); }},
        Case{"max.s32", [](Word a, Word b) { return static_cast<Word>(std::max(static_cast<int>(a), static_cast<int>(b))); }},
        Case{"and.b32", [](Word a, Word b) { return a & b; }}, Case{"or.b32", [](Word a, Word b) { return a | b; }},
        Case{"xor.b32", [](Word a, Word b) { return a ^ b; }}})
    for (const Word mask : {0xffffffffu, 0x1u, 0x80000000u, 0x00f0ff01u, 0x7ffffffeu}) {
      CAPTURE(c.operation, mask);
      const std::string text = values + "mov.u32 %r3, " + std::to_string(mask) + "; shr.u32 %r4, %r3, %i; and.b32 %r4, %r4, 1; " +
                               "setp.ne.u32 %p1, %r4, 0; mov.u32 %d, 77; @%p1 redux.sync." + c.operation + " %d, %r1, %r3;";
      Word expected = word_of(static_cast<Word>(std::countr_zero(mask)));
      for (Word lane = 0; lane < 32; ++lane)
        if ((mask >> lane & 1) != 0 && lane != static_cast<Word>(std::countr_zero(mask))) expected = c.combine(expected, word_of(lane));
      const auto found = lanes_after(text);
      for (Word lane = 0; lane < 32; ++lane) CHECK(found[lane] == ((mask >> lane & 1) != 0 ? expected : 77));
    }
}

TEST_CASE("lanes of both sides of a branch may execute the statement that names them all", "[machine][exchange]") {
  const auto found = lanes_after(R"(
    setp.lt.u32 %p1, %i, 12;
    @%p1 bra LOW;
    bar.warp.sync -1;
    mov.u32 %d, 1;
    bra MEET;
LOW:
    bar.warp.sync -1;
    mov.u32 %d, 2;
MEET:
)");
  CHECK(found[0] == 2);
  CHECK(found[31] == 1);
}

// As cooperative groups' tiles of 8 and 16 lanes do it: one statement, a mask for each tile.
TEST_CASE("groups of lanes that name different lanes do the same statement apart", "[machine][exchange]") {
  const std::string tile = "and.b32 %r1, %i, 24; shl.b32 %r2, 255, %r1; ";
  for (int i = 0; i < 32; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const std::uint32_t first = static_cast<std::uint32_t>(i) / 8 * 8;
    CHECK(lanes_after(tile + "redux.sync.add.u32 %d, %i, %r2;")[at] == 8 * first + 28);
    CHECK(lanes_after(tile + "setp.ne.u32 %p1, %i, 9; vote.sync.ballot.b32 %d, %p1, %r2;")[at] == (0xffu << first & ~0x200u));
    CHECK(lanes_after(tile + "and.b32 %r3, %i, 1; match.any.sync.b32 %d, %r3, %r2;")[at] == (i % 2 == 0 ? 0x55u : 0xaau) << first);
    CHECK(lanes_after(tile + "elect.sync %d|%p1, %r2;")[at] == first);
    CHECK(lanes_after(tile + "shfl.sync.bfly.b32 %d, %i, 5, 0x181f, %r2;")[at] == static_cast<std::uint32_t>(i ^ 5));
  }
}

// Lane 0 arrives by its own path, so only three of the four tiles in one warp split are complete.
TEST_CASE("a group waits for its own lanes, and the others do not wait for it", "[machine][exchange]") {
  const auto found = lanes_after(
      "and.b32 %r1, %i, 24; shl.b32 %r2, 255, %r1; setp.eq.u32 %p1, %i, 0; mov.u32 %r5, 1; @%p1 bra FIRST; bra MEET; "
      "FIRST: mov.u32 %r5, 100; MEET: redux.sync.add.u32 %d, %r5, %r2; bar.warp.sync -1; redux.sync.add.u32 %r6, 1, -1; "
      "add.u32 %d, %d, %r6;");
  for (std::size_t i = 0; i < 32; ++i) CHECK(found[i] == (i < 8 ? 107u : 8u) + 32);
  CHECK_THROWS_WITH(lanes_after("and.b32 %r1, %i, 24; shl.b32 %r2, 255, %r1; setp.eq.u32 %p1, %i, 3; @%p1 bra END; "
                                "redux.sync.add.u32 %d, 5, %r2; bra END; END: bar.warp.sync -1;"),
                    ContainsSubstring("is executed by lanes 0x000000f7 only; lanes 0x00000008, which must take part"));
}

TEST_CASE("lanes meet at two statements of one kind with one mask, and each has what its own statement asks for", "[machine][exchange]") {
  // Half of the lanes leave a loop before the others, whose last rounds have their shuffles with those behind the loop.
  const auto found = lanes_after(R"(
    setp.lt.u32 %p1, %i, 16;
    selp.u32 %r1, 1, 2, %p1;
    mul.lo.u32 %r2, %i, 10;
LOOP:
    shfl.sync.idx.b32 %r3|%p2, %r2, 0, 0x101f, -1;
    add.u32 %d, %d, %r3;
    sub.u32 %r1, %r1, 1;
    setp.ne.u32 %p3, %r1, 0;
    @%p3 bra LOOP;
    setp.ge.u32 %p4, %i, 16;
    @%p4 bra LATE;
    add.u32 %r4, %r2, 1000;
    shfl.sync.idx.b32 %r3|%p2, %r4, 5, 0x101f, -1;
    mad.lo.u32 %d, %d, 10000, %r3;
LATE:
)");
  // Lanes 0 to 15: 0 in the loop, then what lane 5 has behind it. Lanes 16 to 31: twice lane 16's 160.
  for (std::uint32_t i = 0; i < 32; ++i) CHECK(found[i] == (i < 16 ? 1050u : 320u));
  const std::string sides = "setp.lt.u32 %p1, %i, 16; @%p1 bra ELSE; ";
  CHECK(
      lanes_after(sides + "redux.sync.add.u32 %d, %i, -1; bra MEET; ELSE: add.u32 %r1, %i, 1; redux.sync.add.u32 %d, %r1, -1; MEET:")[9] ==
      496 + 16);
  const auto same =
      lanes_after(sides + "match.any.sync.b32 %d, 7, -1; bra MEET; ELSE: and.b32 %r1, %i, 7; match.any.sync.b32 %d, %r1, -1; MEET:");
  CHECK(same[15] == 0xffff8080);
  CHECK(same[31] == 0xffff8080);
  CHECK(same[1] == 0x0202);
  // Other kinds, and other masks, do not meet.
  for (const char* const other : {"shfl.sync.up.b32 %d, %i, 1, 0, -1;", "shfl.sync.bfly.b32 %d, %i, 16, 31, 0x7fffffff;"})
    CHECK_THAT(trap_of(word_kernel(sides + "shfl.sync.bfly.b32 %d, %i, 16, 31, -1; bra MEET; ELSE: " + other + " MEET:"), {32}),
               ContainsSubstring("must take part"));
}

TEST_CASE("masks that do not name the executing lane, and lanes that never come", "[machine][exchange]") {
  CHECK(trap_of(word_kernel("vote.sync.ballot.b32 %d, 1, 0xfffffffe;"), {32}).find("lane 0") != std::string::npos);
  const std::string trap =
      trap_of(word_kernel("setp.ge.u32 %p1, %i, 4; @%p1 bra END; shfl.sync.idx.b32 %d, %i, 0, 31, -1; END: barrier.sync 0;"), {32});
  CHECK_THAT(trap, ContainsSubstring("shfl.sync.idx.b32 is executed by lanes 0x0000000f only; lanes 0xfffffff0, which must take part"));
}

}  // namespace
}  // namespace warpmat::exchange_test
