
#include "machine/kernel.h"
#include "test.h"

namespace warpmat::block_test {

TEST_CASE("barriers with a number of threads, bar.arrive, and reductions", "[machine][block]") {
  // Warps 0 and 1 synchronise at barrier 3; warp 2 only arrives at barrier 4, where warp 3 waits.
  const Module module = word_kernel(R"(
    .shared .u32 word;
    shr.u32 %r0, %i, 5;
    setp.ge.u32 %p1, %r0, 2;
    @%p1 bra OTHERS;
    setp.gt.u32 %p2, %i, 20;
    bar.red.popc.u32 %d, 3, 64, %p2;
    bar.red.and.pred %p3, 3, 64, %p2;
    bar.red.or.pred %p4, 3, 64, %p2;
    selp.u32 %r1, 100, 0, %p3;
    selp.u32 %r2, 1000, 0, %p4;
    add.u32 %d, %d, %r1;
    add.u32 %d, %d, %r2;
    bra MEET;
OTHERS:
    setp.eq.u32 %p5, %r0, 3;
    @%p5 bra WAITS;
    st.shared.u32 [word], 77;
    bar.arrive 4, 64;
    bra MEET;
WAITS:
    bar.sync 4, 64;
    ld.shared.u32 %d, [word];
MEET:
)");
  const auto found = words_of(module, {1}, {128});
  CHECK(found[0] == 43 + 1000);
  CHECK(found[63] == 43 + 1000);
  CHECK(found[64] == 0);
  CHECK(found[127] == 77);
}

TEST_CASE("warps that have exited do not hold a barrier up", "[machine][block]") {
  const Module module = word_kernel("setp.ge.u32 %p1, %i, 40; @%p1 exit; bar.sync 0; mov.u32 %d, 9;");
  const auto found = words_of(module, {1}, {128});
  CHECK(found[39] == 9);
  CHECK(found[40] == 0);
}

TEST_CASE("a deadlock is reported with the place of every warp", "[machine][block]") {
  const std::string trap = trap_of(word_kernel("setp.lt.u32 %p1, %i, 32; @%p1 bra A; bar.sync 1; bra MEET; A: bar.sync 2; MEET:"), {64});
  CHECK(trap.find("deadlock") != std::string::npos);
  CHECK(trap.find("warp 0") != std::string::npos);
  CHECK(trap.find("warp 1") != std::string::npos);
}

TEST_CASE("atomics: lanes of one place see each other, results add up over blocks, for every number of threads", "[machine][atomics]") {
  const Module module = module_of(".param .u64 sum, .param .u64 tickets", R"(
    .reg .b32 %r<9>; .reg .b64 %l<9>; .reg .f32 %f<5>;
    ld.param.u64 %l0, [sum];
    ld.param.u64 %l1, [tickets];
    mov.u32 %r0, %tid.x;
    atom.global.add.u32 %r1, [%l0], 1;
    red.global.max.u32 [%l0+4], %r1;
    red.global.add.u32 [%l0+8], %r0;
    cvt.rn.f32.u32 %f0, %r1;
    mul.f32 %f0, %f0, 0f3DCCCCCD;
    red.global.add.f32 [%l0+12], %f0;
    mul.wide.u32 %l2, %r1, 4;
    add.u64 %l2, %l1, %l2;
    mov.u32 %r2, %ctaid.x;
    st.global.u32 [%l2], %r2;
    ret;
)");
  std::vector<std::uint32_t> first_sums, first_tickets;
  for (const int jobs : {1, 2, 16}) {
    DeviceMemory memory;
    const std::uint64_t sum = memory.allocate(16, "sum"), tickets = memory.allocate(4 * 40 * 50, "tickets");
    launch(Kernel(module, "k"), {{40}, {50}}, memory, {sum, tickets}, {.jobs = jobs});
    const auto sums = memory.read<std::uint32_t>(sum, 4), by_ticket = memory.read<std::uint32_t>(tickets, 40 * 50);
    CHECK(sums[0] == 2000);
    CHECK(sums[1] == 1999);
    CHECK(sums[2] == 40 * (49 * 50 / 2));
    if (jobs == 1) {
      first_sums = sums;
      first_tickets = by_ticket;
    }
    CHECK(sums == first_sums);
    CHECK(by_ticket == first_tickets);
  }
}

TEST_CASE("every integer atomic operation", "[machine][atomics]") {
  struct Case {
    const char* statement;
    std::uint32_t before, after;
  };
  for (const Case& c :
       {Case{"atom.global.inc.u32 %d, [%out], 5;", 4, 5}, Case{"atom.global.inc.u32 %d, [%out], 5;", 5, 0},
        Case{"atom.global.dec.u32 %d, [%out], 5;", 0, 5}, Case{"atom.global.dec.u32 %d, [%out], 5;", 9, 5},
        Case{"atom.global.min.s32 %d, [%out], -3;", 7, 0xfffffffd}, Case{"atom.global.max.u32 %d, [%out], 0xfffffffd;", 7, 0xfffffffd},
        Case{"atom.global.and.b32 %d, [%out], 12;", 10, 8}, Case{"atom.global.or.b32 %d, [%out], 12;", 10, 14},
        Case{"atom.global.xor.b32 %d, [%out], 12;", 10, 6}, Case{"atom.global.exch.b32 %d, [%out], 12;", 10, 12},
        Case{"atom.global.cas.b32 %d, [%out], 10, 12;", 10, 12}, Case{"atom.global.cas.b32 %d, [%out], 11, 12;", 10, 10}}) {
    INFO(c.statement);
    const std::string number = std::to_string(c.before);
    // The old value comes back, the new one is in memory.
    const Module module = word_kernel("mov.u32 %r1, " + number + "; st.global.u32 [%out], %r1; " + c.statement + " setp.ne.u32 %p1, %d, " +
                                      number + "; ld.global.u32 %d, [%out]; @%p1 mov.u32 %d, 12345;");
    CHECK(words_of(module, {1}, {1})[0] == c.after);
  }
}

TEST_CASE("blocks that wait for one another: a barrier across the grid", "[machine][grid]") {
  const Module module = module_of(".param .u64 out, .param .u64 counter", R"(
    .reg .b32 %r<9>; .reg .b64 %l<9>; .reg .pred %p<3>;
    ld.param.u64 %l0, [out];
    ld.param.u64 %l1, [counter];
    mov.u32 %r0, %ctaid.x;
    mul.wide.u32 %l2, %r0, 4;
    add.u64 %l3, %l0, %l2;
    st.global.u32 [%l3], %r0;
    membar.gl;
    atom.global.add.u32 %r1, [%l1], 1;
SPIN:
    ld.acquire.gpu.global.u32 %r2, [%l1];
    setp.lt.u32 %p1, %r2, 24;
    @%p1 bra SPIN;
    mov.u32 %r3, 23;
    sub.u32 %r3, %r3, %r0;
    mul.wide.u32 %l2, %r3, 4;
    add.u64 %l4, %l0, %l2;
    ld.global.u32 %r4, [%l4];
    st.global.u32 [%l3+96], %r4;
    ret;
)");
  for (const int jobs : {1, 2, 16})
    for (const std::uint64_t schedule : {0u, 5u}) {
      DeviceMemory memory;
      const std::uint64_t out = memory.allocate(192, "out"), counter = memory.allocate(4, "counter");
      launch(Kernel(module, "k"), {{24}, {1}}, memory, {out, counter}, {.jobs = jobs, .schedule = schedule});
      std::vector<std::uint32_t> expected(24);
      std::iota(expected.rbegin(), expected.rend(), 0);
      CHECK(memory.read<std::uint32_t>(out + 96, 24) == expected);
    }
}

TEST_CASE("cp.async arrives when it is waited for and not before; missing bytes are zeros", "[machine][async]") {
  const Module module = module_of(".param .u64 in, .param .u64 out", R"(
    .reg .b32 %r<20>; .reg .b64 %l<9>;
    .shared .align 16 .b8 buffer[64];
    ld.param.u64 %l0, [in];
    ld.param.u64 %l1, [out];
    mov.u32 %r0, buffer;
    st.shared.v4.u32 [%r0], {7, 7, 7, 7};
    st.shared.v4.u32 [%r0+16], {7, 7, 7, 7};
    st.shared.v4.u32 [%r0+32], {7, 7, 7, 7};
    cp.async.cg.shared.global [%r0], [%l0], 16;
    cp.async.commit_group;
    cp.async.ca.shared.global [%r0+16], [%l0+16], 8, 5;
    cp.async.commit_group;
    cp.async.ca.shared.global [%r0+32], [%l0+32], 4;
    ld.shared.u32 %r1, [%r0];
    cp.async.wait_group 1;
    ld.shared.u32 %r2, [%r0];
    ld.shared.u32 %r3, [%r0+16];
    cp.async.wait_group 0;
    ld.shared.v2.u32 {%r4, %r5}, [%r0+16];
    ld.shared.u32 %r6, [%r0+32];
    cp.async.wait_all;
    ld.shared.u32 %r7, [%r0+32];
    st.global.v4.u32 [%l1], {%r1, %r2, %r3, %r4};
    st.global.v2.u32 [%l1+16], {%r5, %r6};
    st.global.u32 [%l1+24], %r7;
    ret;
)");
  DeviceMemory memory;
  const std::uint64_t in = memory.allocate(std::vector<std::uint32_t>{1, 2, 3, 4, 0x05050505, 0x06060606, 0, 0, 9}, "in"),
                      out = memory.allocate(28, "out");
  launch(Kernel(module, "k"), {{1}, {1}}, memory, {in, out}, {.checks = {.copies = false}});
  CHECK(memory.read<std::uint32_t>(out, 7) == std::vector<std::uint32_t>{7, 1, 7, 0x05050505, 0x06, 7, 9});
}

TEST_CASE("a launch with the stop flag set ends with a trap of kind limit, whatever its blocks do", "[machine][block]") {
  const Module module = word_kernel("again: bra again;");
  for (const int jobs : {1, 2}) {
    const std::atomic<bool> stop{true};
    const auto stopped = [&] { words_of(module, {4}, {64}, {.jobs = jobs, .stop = &stop}); };
    CHECK(message_of(stopped).find("the launch was stopped from outside") != std::string::npos);
  }
}

TEST_CASE("a schedule's seed orders blocks, too: each runs once", "[machine][block]") {
  // Each block takes the next place of a counter.
  const Module module = module_of(".param .u64 out, .param .u64 counter", R"(
    .reg .b32 %r<4>; .reg .b64 %l<4>;
    ld.param.u64 %l1, [out];
    ld.param.u64 %l2, [counter];
    atom.global.add.u32 %r1, [%l2], 1;
    mov.u32 %r2, %ctaid.x;
    mul.wide.u32 %l3, %r1, 4;
    add.u64 %l1, %l1, %l3;
    st.global.u32 [%l1], %r2;
    ret;
)");
  const auto order_of = [&](std::uint32_t blocks, std::uint64_t schedule, int jobs) {
    DeviceMemory memory;
    const std::uint64_t out = memory.allocate(4 * blocks), counter = memory.allocate(4);
    launch(Kernel(module, "k"), {{blocks}, {1}}, memory, {out, counter}, {.jobs = jobs, .schedule = schedule});
    return memory.read<std::uint32_t>(out, blocks);
  };
  for (const std::uint32_t blocks : {1u, 2u, 30u, 97u, 512u}) {
    std::vector<std::uint32_t> in_order(blocks);
    std::iota(in_order.begin(), in_order.end(), 0u);
    CHECK(order_of(blocks, 0, 1) == in_order);
    std::set<std::vector<std::uint32_t>> orders;
    for (const std::uint64_t schedule : {1u, 2u, 3u, 77u, 1000000u}) {
      std::vector<std::uint32_t> order = order_of(blocks, schedule, 1);
      CHECK(order == order_of(blocks, schedule, 3));
      orders.insert(order);
      std::ranges::sort(order);
      CHECK(order == in_order);
    }
    CHECK(orders.size() >= std::min<std::size_t>(blocks, 4));
  }
}

}  // namespace warpmat::block_test
