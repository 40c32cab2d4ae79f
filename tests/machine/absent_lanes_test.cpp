// Lanes that have exited take part in nothing and hold nothing up: an early `return` before each statement that lanes or warps execute
// together. What an H100 answers in the same situations: absent_lanes_answers_test.cpp.

#include "machine/kernel.h"
#include "test.h"

namespace warpmat::absent_lanes_test {

namespace {

/// What the threads of `block` have after `body`; those whose bit of `gone` is set for their lane, in warp 1, or in warp 0 where it is the
/// only one, have returned before. Their words stay 0.
std::vector<std::uint32_t> left_after(const std::string& body, std::uint32_t gone, std::uint32_t threads = 32) {
  const std::string warp = threads == 32 ? "0" : "1";
  return words_of(
      word_kernel("mov.u32 %r17, %tid.x; and.b32 %r19, %r17, 31; mov.u32 %r18, " + std::to_string(gone) + "; shr.u32 %r18, %r18, %r19; " +
                  "and.b32 %r18, %r18, 1; shr.u32 %r19, %r17, 5; setp.eq.u32 %p19, %r19, " + warp +
                  "; setp.ne.and.u32 %p19, %r18, 0, %p19; @%p19 bra END; " + body + " st.global.u32 [%out], %d; END: ret;"),
      {1}, {threads});
}

constexpr std::uint32_t low_half = 0x0000ffff, odd = 0xaaaaaaaa;

}  // namespace

TEST_CASE("shfl behind an early return: lanes that are gone give 0, in range or not as ever", "[machine][lanes]") {
  const auto value = "add.u32 %r1, %i, 100; ";
  const auto read = [&](const std::string& mode, const std::string& operands, std::uint32_t gone) {
    return left_after(
        value + ("shfl.sync." + mode) + ".b32 %r2|%p1, %r1, " + operands + ", -1; selp.u32 %r3, 1000, 0, %p1; add.u32 %d, %r2, %r3;", gone);
  };
  const auto down = read("down", "1, 31", odd), up = read("up", "16, 0", low_half), idx = read("idx", "20, 31", 1u << 20),
             butterfly = read("bfly", "16, 31", low_half);
  for (std::uint32_t i = 0; i < 32; ++i) {
    INFO("lane " << i);
    CHECK(down[i] == (i % 2 == 1 ? 0 : 1000));
    CHECK(up[i] == (i < 16 ? 0 : 1000));
    CHECK(idx[i] == (i == 20 ? 0 : 1000));
    CHECK(butterfly[i] == (i < 16 ? 0 : 1000));
  }
  const auto last = read("down", "2, 31", 1u << 31);
  CHECK(last[28] == 1130);  // lane 30
  CHECK(last[29] == 1000);  // lane 31 is gone
  CHECK(last[30] == 130);   // out of range: its own
}

TEST_CASE("shfl of a lane outside of the mask gives 0 where that lane is elsewhere", "[machine][lanes]") {
  const std::string part = "mov.u32 %d, 7; add.u32 %r1, %i, 100; setp.ge.u32 %p1, %i, 20; @%p1 bra END; ";
  const auto found = words_of(word_kernel(part + "shfl.sync.idx.b32 %d|%p2, %r1, 25, 31, 0xfffff; selp.u32 %r2, 1000, 0, %p2; "
                                                 "add.u32 %d, %d, %r2; END:"),
                              {1}, {32});
  for (std::uint32_t i = 0; i < 32; ++i) CHECK(found[i] == (i < 20 ? 1000 : 7));
  const auto tiles = words_of(word_kernel("and.b32 %r1, %i, 24; shl.b32 %r2, 255, %r1; add.u32 %r3, %i, 100; "
                                          "shfl.sync.idx.b32 %d, %r3, 9, 31, %r2;"),
                              {1}, {32});
  for (std::uint32_t i = 0; i < 32; ++i) CHECK(tiles[i] == 109);  // all four tiles execute it in one step
}

TEST_CASE("named lanes that are here but whose guard does not hold are not waited for, and give 0", "[machine][lanes]") {
  const std::string guard = "mov.u32 %d, 7; add.u32 %r1, %i, 100; setp.lt.u32 %p1, %i, 4; ";
  const auto found = words_of(word_kernel(guard + "@%p1 shfl.sync.bfly.b32 %d, %r1, 5, 31, -1;"), {1}, {32});
  for (std::uint32_t i = 0; i < 32; ++i) CHECK(found[i] == (i < 4 ? 0 : 7));
  CHECK(words_of(word_kernel(guard + "@%p1 vote.sync.ballot.b32 %d, 1, -1;"), {1}, {32})[3] == 0xf);
  CHECK(words_of(word_kernel(guard + "@%p1 redux.sync.add.u32 %d, 1, -1;"), {1}, {32})[3] == 4);
}

TEST_CASE("lanes that wait behind a branch for others go on where these name them", "[machine][lanes]") {
  const auto found = words_of(word_kernel("add.u32 %r1, %i, 100; setp.lt.u32 %p1, %i, 16; @%p1 bra END; "
                                          "shfl.sync.bfly.b32 %d, %r1, 16, 31, -1; vote.sync.ballot.b32 %r2, 1, -1; add.u32 %d, %d, %r2; "
                                          "END: add.u32 %d, %d, 1;"),
                              {1}, {32});
  for (std::uint32_t i = 0; i < 32; ++i) CHECK(found[i] == (i < 16 ? 1 : 0xffff0001));
}

TEST_CASE("a check reports lanes that a shuffle reads and that take no part; without it the launch names the statement",
          "[machine][lanes]") {
  const auto found = [](const std::string& body, bool check) {
    DeviceMemory memory;
    const std::uint64_t out = memory.allocate(128, "out");
    const Kernel kernel(word_kernel(body), "k");
    std::vector<std::string> statements;
    const std::string message = message_of(
        [&] { statements = launch(kernel, {.grid = {1}, .block = {32}}, memory, {out}, {.checks = {.lanes = check}}).absent_lanes; });
    return message + (statements.empty() ? "" : "; " + statements.front());
  };
  const std::string away = "setp.ge.u32 %p1, %i, 20; @%p1 bra END; ", exit = "setp.ge.u32 %p1, %i, 20; @%p1 exit; ";
  const std::string named = "shfl.sync.down.b32 %d, %i, 1, 31, 0xfffff; END:", all = "shfl.sync.down.b32 %d, %i, 1, 31, -1;";
  CHECK_THAT(found(away + named, true),
             ContainsSubstring("lane 19, line 17 (shfl.sync.down.b32): reads lane 20, which its mask 0x000fffff does not name"));
  CHECK_THAT(found(exit + all, true), ContainsSubstring("lane 19, line 17 (shfl.sync.down.b32): reads lane 20, which has exited"));
  CHECK_THAT(found("setp.lt.u32 %p1, %i, 20; @%p1 " + all, true), ContainsSubstring("reads lane 20, which does not execute the statement"));
  CHECK_THAT(found("and.b32 %r1, %i, 24; shl.b32 %r2, 255, %r1; shfl.sync.idx.b32 %d, %i, 9, 31, %r2;", true),
             ContainsSubstring("lane 0, line 17 (shfl.sync.idx.b32): reads lane 9, which its mask 0x000000ff does not name"));
  CHECK(found(exit + all, false) == "nothing; line 17 (shfl.sync.down.b32)");
  CHECK(found(all, true) == "nothing");
  CHECK(found(exit + "shfl.sync.up.b32 %d, %i, 1, 0, -1;", true) == "nothing");
}

TEST_CASE("votes, matches, sums and elect count the lanes that are left", "[machine][lanes]") {
  CHECK(left_after("setp.gt.u32 %p1, %i, 19; vote.sync.ballot.b32 %d, %p1, -1;", low_half)[16] == 0xfff00000);
  CHECK(left_after("setp.gt.u32 %p1, %i, 15; vote.sync.all.pred %p2, %p1, -1; selp.u32 %d, 1, 2, %p2;", low_half)[16] == 1);
  CHECK(left_after("setp.lt.u32 %p1, %i, 16; vote.sync.any.pred %p2, %p1, -1; selp.u32 %d, 1, 2, %p2;", low_half)[16] == 2);
  CHECK(left_after("setp.lt.u32 %p1, %i, 16; vote.sync.uni.pred %p2, %p1, -1; selp.u32 %d, 1, 2, %p2;", low_half)[16] == 1);
  CHECK(left_after("shr.u32 %r1, %i, 2; match.any.sync.b32 %d, %r1, -1;", odd)[4] == 0x50);
  CHECK(left_after("and.b32 %r1, %i, 1; match.all.sync.b32 %d|%p1, %r1, -1; selp.u32 %r2, 1, 2, %p1; xor.b32 %d, %d, %r2;", odd)[0] ==
        (0x55555555 ^ 1));
  CHECK(left_after("redux.sync.add.u32 %d, 1, -1;", odd)[0] == 16);
  CHECK(left_after("redux.sync.min.u32 %d, %i, -1;", low_half)[31] == 16);
  CHECK(left_after("redux.sync.and.b32 %d, %i, -1;", 0x7fffffff)[31] == 31);
  const auto elected = left_after("elect.sync %r1|%p1, -1; selp.u32 %r2, 100, 0, %p1; add.u32 %d, %r1, %r2;", low_half);
  CHECK(elected[16] == 116);
  CHECK(elected[17] == 16);
  CHECK(left_after("activemask.b32 %d;", odd)[0] == 0x55555555);
  CHECK(left_after("bar.warp.sync -1; mov.u32 %d, 5;", odd) == left_after("mov.u32 %d, 5;", odd));
}

TEST_CASE("block barriers behind an early return, of some lanes of a warp or all", "[machine][lanes]") {
  for (const std::uint32_t gone : {odd, low_half, 1u, 0xffffffffu})
    for (const char* barrier : {"bar.sync 0", "barrier.sync 0", "barrier.cta.sync.aligned 3", "barrier.cta.sync 3"}) {
      INFO(barrier << " " << gone);
      const auto found = left_after(std::string(".shared .b32 words[96]; mov.u32 %r1, words; shl.b32 %r2, %i, 2; add.u32 %r2, %r2, %r1; ") +
                                        "add.u32 %r3, %i, 1; st.shared.u32 [%r2], %r3; " + barrier +
                                        "; add.u32 %r4, %r2, 256; "
                                        "setp.lt.u32 %p1, %i, 32; @%p1 ld.shared.u32 %d, [%r4];",
                                    gone, 96);
      for (std::uint32_t i = 0; i < 32; ++i) CHECK(found[i] == i + 65);
    }
}

TEST_CASE("bar.red counts the predicates of the lanes that are left", "[machine][lanes]") {
  for (const char* name : {"bar.red", "barrier.red"}) {
    const std::string red = name;
    CHECK(left_after(red + ".popc.u32 %d, 0, 1;", odd, 64)[0] == 48);
    CHECK(left_after(red + ".popc.u32 %d, 0, 1;", 0xffffffff, 64)[0] == 32);
    CHECK(left_after("setp.lt.u32 %p1, %i, 48; " + red + ".and.pred %p2, 0, %p1; selp.u32 %d, 1, 2, %p2;", 0xffff0000, 64)[0] == 1);
    CHECK(left_after("setp.ge.u32 %p1, %i, 48; " + red + ".or.pred %p2, 0, %p1; selp.u32 %d, 1, 2, %p2;", 0xffff0000, 64)[0] == 2);
  }
}

TEST_CASE("lanes that exit after others have come to a barrier that is not aligned let them go", "[machine][lanes]") {
  const auto found = words_of(word_kernel("setp.lt.u32 %p1, %i, 16; @%p1 bra WAIT; mov.u32 %r1, 0; "
                                          "LOOP: add.u32 %r1, %r1, 1; setp.lt.u32 %p2, %r1, 5000; @%p2 bra LOOP; exit; "
                                          "WAIT: barrier.sync 0; mov.u32 %d, 3;"),
                              {1}, {64});
  for (std::uint32_t i = 0; i < 64; ++i) CHECK(found[i] == (i < 16 ? 3 : 0));
}

TEST_CASE("a lane that arrives at the cluster's barrier and exits counts for itself only", "[machine][lanes]") {
  // Block 0 arrives and leaves. Block 1 stores behind a long loop and arrives then; block 0's second warp must not continue earlier.
  for (const char* aligned : {"", ".aligned"}) {
    const std::string name = std::string("barrier.cluster.arrive") + aligned, wait = std::string("barrier.cluster.wait") + aligned;
    const Module module = word_kernel(
        ".shared .b32 word; mov.u32 %r1, word; mov.u32 %r2, %cluster_ctarank; mov.u32 %r6, %tid.x; "
        "setp.eq.u32 %p1, %r2, 1; @!%p1 bra MEET; mov.u32 %r3, 0; "
        "LOOP: add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, 20000; @%p2 bra LOOP; st.shared.u32 [%r1], 9; "
        "MEET: " +
        name + "; setp.lt.u32 %p3, %r6, 32; setp.eq.and.u32 %p3, %r2, 0, %p3; @%p3 exit; " + wait +
        "; mapa.shared::cluster.u32 %r4, %r1, 1; setp.eq.u32 %p4, %r2, 0; @%p4 ld.shared::cluster.u32 %d, [%r4]; " + name + "; " + wait +
        ";");
    DeviceMemory memory;
    const std::uint64_t out = memory.allocate(4 * 128, "out");
    launch(Kernel(module, "k"), {.grid = {2}, .block = {64}, .cluster = {2}}, memory, {out});
    const auto words = memory.read<std::uint32_t>(out, 128);
    for (std::size_t i = 0; i < 128; ++i) CHECK(words[i] == (i >= 32 && i < 64 ? 9 : 0));
  }
}

TEST_CASE("what a warp did before it exited comes before the barriers of the others", "[machine][lanes]") {
  const std::string store = ".shared .align 16 .b32 words[64]; mov.u32 %r1, words; shl.b32 %r2, %i, 2; add.u32 %r2, %r2, %r1; ";
  const std::string rest = "setp.ge.u32 %p1, %i, 32; @%p1 exit; bar.sync 0; ld.shared.u32 %d, [%r2+128];";
  const LaunchOptions options{.checks = {.races = true}};
  const auto stored = words_of(word_kernel(store + "st.shared.u32 [%r2], %i; " + rest), {1}, {64}, options);
  for (std::uint32_t i = 0; i < 64; ++i) CHECK(stored[i] == (i < 32 ? i + 32 : 0));
  const std::string copy = "st.global.u32 [%out], %i; cp.async.ca.shared.global [%r2], [%out], 4; cp.async.wait_all; ";
  const auto copied = words_of(word_kernel(store + copy + rest), {1}, {64}, options);
  for (std::uint32_t i = 0; i < 64; ++i) CHECK(copied[i] == (i < 32 ? i + 32 : i));
  const std::string counted = "st.shared.u32 [%r2], %i; setp.ge.u32 %p1, %i, 32; @%p1 exit; bar.sync 0, 32; ld.shared.u32 %d, [%r2+128];";
  // The load may come before the store: then it is uninitialised, too.
  const LaunchOptions races_alone{.checks = {.uninitialised = false, .races = true}};
  CHECK_THAT(message_of([&] { words_of(word_kernel(store + counted), {1}, {64}, races_alone); }), ContainsSubstring("race at"));
}

}  // namespace warpmat::absent_lanes_test
