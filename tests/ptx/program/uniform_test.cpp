#include <cstdint>
#include <string>
#include <vector>

#include "catch.h"
#include "machine/kernel.h"

namespace warpmat::uniform_test {

namespace {

/// What lane 31 has from lane 0, which has exited, by a shuffle of %r1 that `body` sets. 5 blocks of 32 threads.
std::uint32_t word_of(const std::string& body, const std::string& shuffle = "shfl.sync.bfly.b32 %d, %r1, 31, 31, -1;") {
  const std::string exit = "setp.eq.u32 %p1, %r0, 0; @%p1 exit;\n";
  return words_of(word_kernel("mov.u32 %r0, %tid.x; " + body + exit + shuffle), {5}, {32})[4 * 32 + 31];
}

}  // namespace

TEST_CASE("a shuffle of a value that all lanes have in common is left out, as by ptxas", "[uniform]") {
  struct Case {
    const char* body;
    std::uint32_t result;
  };
  for (const Case& c : {
           Case{"mov.u32 %r1, %ctaid.x;", 4},
           Case{"mov.u32 %r1, %ntid.x; mov.u32 %r2, %ctaid.x; mad.lo.u32 %r1, %r1, %r2, 1;", 129},
           Case{"ld.param.u64 %l1, [out]; ld.global.u32 %r2, [%l1]; and.b32 %r2, %r2, 0; add.u32 %r1, %r2, 9;", 9},
           Case{"vote.sync.ballot.b32 %r1, 1, -1;", 0xffffffff},
           Case{"redux.sync.add.u32 %r1, %r0, -1;", 496},
           Case{"add.u32 %r2, %r0, 40; shfl.sync.idx.b32 %r1, %r2, 3, 31, -1;", 43},
           // A value of each lane; of a half of the warp; one that is carried in a loop, or left in different rounds.
           Case{"add.u32 %r1, %r0, 1;", 0},
           Case{"add.u32 %r2, %r0, 40; shfl.sync.idx.b32 %r1, %r2, 3, 0x101f, -1;", 0},
           Case{"mov.u32 %r1, %ctaid.x; setp.gt.u32 %p2, %r0, 5; @%p2 mov.u32 %r1, 7;", 0},
           Case{"mov.u32 %r2, 0; L: ld.param.u64 %l1, [out]; ld.global.u32 %r1, [%l1]; add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, %r0; "
                "@%p2 bra L;",
                0},
       }) {
    CAPTURE(c.body);
    CHECK(word_of(c.body) == c.result);
  }
  const std::string block = "mov.u32 %r1, %ctaid.x;";
  CHECK(word_of(block, "shfl.sync.bfly.b32 %d|%p2, %r1, 31, 31, -1;") == 4);
  CHECK(word_of(block, "shfl.sync.bfly.b32 %d|%p2, %r1, 31, 31, -1; @%p2 add.u32 %d, %d, 100;") == 100);
  CHECK(word_of(block, "shfl.sync.bfly.b32 %d|%p2, %r1, 31, 31, -1; setp.eq.u32 %p2, %r0, 31; @%p2 add.u32 %d, %d, 100;") == 104);
  CHECK(word_of(block, "shfl.sync.idx.b32 %d, %r1, 0, 31, -1;") == 4);
  // In an arm of a branch that parts lanes it stays; behind one that does not, or that ends lanes, it does not.
  const std::string arm = "mov.u32 %d, 9; setp.lt.u32 %p2, %r0, 16; @%p2 bra E; ";
  const std::string together = "mov.u32 %d, 9; setp.eq.u32 %p2, %r1, 7; @%p2 bra E; ";
  CHECK(word_of(block, arm + "shfl.sync.bfly.b32 %d, %r1, 31, 31, 0xffff0000; E:") == 0);
  CHECK(word_of(block, together + "shfl.sync.bfly.b32 %d, %r1, 31, 31, -1; E:") == 4);
  // What another shuffle gave in a loop stays where lanes leave the loop in different rounds.
  const auto loop = [](const std::string& rounds) {
    return "mov.u32 %r2, 0; L: activemask.b32 %r5; add.u32 %r3, %r0, 40; shfl.sync.idx.b32 %r4, %r3, 31, 31, %r5; "
           "shfl.sync.bfly.b32 %d, %r4, 31, 31, %r5; add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, " +
           rounds + "; @%p2 bra L;";
  };
  CHECK(word_of(block, loop("%r0")) == 0);
  CHECK(word_of(block, loop("%n")) == 71);
}

TEST_CASE("a shuffle that is left out is still reported where it reads an absent lane", "[uniform]") {
  const Module module = word_kernel(
      "mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; setp.eq.u32 %p1, %r0, 0; @%p1 exit;"
      "shfl.sync.bfly.b32 %d, %r1, 31, 31, -1;");
  DeviceMemory memory;
  const std::uint64_t out = memory.allocate(128, "out");
  const Kernel kernel(module, "k");
  CHECK(launch(kernel, {{1}, {32}}, memory, {out}).absent_lanes.size() == 1);
  CHECK_THROWS_AS(launch(kernel, {{1}, {32}}, memory, {out}, {.checks = {.lanes = true}}), Trap);
}

}  // namespace warpmat::uniform_test
