// Clusters of blocks: their numbers, their barrier, each other's shared memory, copies to several blocks.

#include <warpmat/launch.h>

#include "machine/kernel.h"
#include "test.h"

namespace warpmat::cluster_test {
namespace {

std::vector<std::uint32_t> run(const Module& module, Dim3 grid, Dim3 cluster, std::uint32_t threads, const LaunchOptions& options = {}) {
  DeviceMemory memory;
  const std::uint64_t count = grid.count() * threads, out = memory.allocate(4 * count, "out");
  launch(Kernel(module, "k"), {.grid = grid, .block = {threads}, .cluster = cluster}, memory, {out}, options);
  return memory.read<std::uint32_t>(out, count);
}

constexpr const char* both_arrive = R"(
    barrier.cluster.arrive.release.aligned;
    barrier.cluster.wait.acquire.aligned;
)";

TEST_CASE("Numbers of blocks, clusters and places in them", "[machine][cluster]") {
  // Word of the block (x, y): rank, %cluster_ctaid.y, %clusterid.x and .y, %cluster_nctarank.
  const Module module = module_of(".param .u64 out", R"(
    .reg .b32 %r<20>; .reg .b64 %l<4>;
    ld.param.u64 %l0, [out];
    mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ctaid.y; mov.u32 %r2, %nctaid.x;
    mad.lo.u32 %r0, %r1, %r2, %r0; mul.wide.u32 %l1, %r0, 4; add.u64 %l0, %l0, %l1;
    mov.u32 %r3, %cluster_ctarank;
    mov.u32 %r4, %cluster_ctaid.y; mad.lo.u32 %r3, %r4, 10, %r3;
    mov.u32 %r4, %clusterid.x; mad.lo.u32 %r3, %r4, 100, %r3;
    mov.u32 %r4, %clusterid.y; mad.lo.u32 %r3, %r4, 1000, %r3;
    mov.u32 %r4, %cluster_nctarank; mad.lo.u32 %r3, %r4, 10000, %r3;
    mov.u32 %r4, %nclusterid.x; mad.lo.u32 %r3, %r4, 100000, %r3;
    st.global.u32 [%l0], %r3;
    ret;
)");
  const std::vector<std::uint32_t> words = run(module, {6, 4}, {3, 2}, 1);
  for (std::uint32_t y = 0; y < 4; ++y)
    for (std::uint32_t x = 0; x < 6; ++x)
      CHECK(words[y * 6 + x] == x % 3 + 3 * (y % 2) + 10 * (y % 2) + 100 * (x / 3) + 1000 * (y / 2) + 60000 + 200000);
}

TEST_CASE("Blocks of a cluster read, write and add in each other's shared memory", "[machine][cluster]") {
  const std::string body = std::string(R"(
    .shared .align 4 .b32 mine; .shared .align 4 .b32 sum;
    mov.u32 %r0, mine; mov.u32 %r1, sum;
    mov.u32 %r2, %cluster_ctarank;
    mul.lo.u32 %r3, %r2, 7; add.u32 %r3, %r3, 5;
    st.shared.u32 [%r0], %r3; st.shared.u32 [%r1], 0;
)") + both_arrive + R"(
    add.u32 %r4, %r2, 1; rem.u32 %r4, %r4, 4;
    mapa.shared::cluster.u32 %r5, %r0, %r4;
    ld.shared::cluster.u32 %d, [%r5];
    mov.u64 %l0, sum; cvta.shared.u64 %l0, %l0;
    mapa.u64 %l1, %l0, 2;
    atom.add.u32 %r6, [%l1], %d;
    getctarank.shared::cluster.u32 %r7, %r5;
    mad.lo.u32 %d, %r7, 1000, %d;
)" + both_arrive + R"(
    setp.eq.u32 %p0, %r2, 2;
    ld.shared.u32 %r8, [%r1];
    @%p0 add.u32 %d, %d, %r8;
)";
  const auto jobs = GENERATE(1, 2, 16);
  const std::vector<std::uint32_t> words = run(word_kernel(body), {8}, {4}, 1, {.jobs = jobs});
  const std::uint32_t sum = 5 + 12 + 19 + 26;
  for (std::uint32_t block = 0; block < 8; ++block) {
    const std::uint32_t next = (block % 4 + 1) % 4;
    CHECK(words[block] == 1000 * next + 7 * next + 5 + (block % 4 == 2 ? sum : 0));
  }
}

TEST_CASE("Addresses of shared memory have the rank of their block in bits 24 to 31, as on an H200", "[machine][cluster]") {
  const auto each = [](const std::string& body) {
    const std::string variables = ".shared .align 4 .b32 mine; .extern .shared .align 4 .b32 more[];";
    return run(word_kernel(variables + "mov.u32 %r0, mine; mov.u32 %r2, %cluster_ctarank; mov.u32 %r7, 0;" + body), {4}, {4}, 1);
  };
  using Words = std::vector<std::uint32_t>;
  const Words own{0x400, 0x1000400, 0x2000400, 0x3000400}, numbers{0, 1, 2, 3}, first{0x400, 0x400, 0x400, 0x400};
  CHECK(each("mov.u32 %d, %r0;") == own);
  CHECK(each("mov.u32 %d, more; sub.u32 %d, %d, 4;") == own);
  CHECK(each("mov.u64 %l0, mine; cvta.shared.u64 %l0, %l0; cvt.u32.u64 %d, %l0;") == own);
  CHECK(each("mov.u64 %l0, mine; cvta.shared.u64 %l0, %l0; cvta.to.shared.u64 %l0, %l0; cvt.u32.u64 %d, %l0;") == own);
  CHECK(each("mapa.shared::cluster.u32 %d, %r0, %r2;") == own);
  CHECK(each("mapa.shared::cluster.u32 %d, %r0, 0; mapa.shared::cluster.u32 %d, %d, %r2;") == own);
  CHECK(each("mapa.shared::cluster.u32 %d, %r0, 0;") == first);
  CHECK(each("mov.u64 %l0, mine; cvta.shared.u64 %l0, %l0; mapa.u64 %l0, %l0, 0; cvt.u32.u64 %d, %l0;") == first);
  CHECK(each("getctarank.shared::cluster.u32 %d, %r0;") == numbers);
  CHECK(each("mov.u64 %l0, mine; cvta.shared.u64 %l0, %l0; getctarank.u64 %d, %l0;") == numbers);
  CHECK(each("and.b32 %r1, %r0, 0xffffff; getctarank.shared::cluster.u32 %d, %r1;") == Words{0, 0, 0, 0});
  CHECK(each("add.u32 %r1, %r0, 0x1000000; getctarank.shared::cluster.u32 %d, %r1;") == Words{1, 2, 3, 4});
  CHECK(each("or.b32 %r1, %r0, 0xff000000; getctarank.shared::cluster.u32 %d, %r1;") == Words{255, 255, 255, 255});
  const std::string is_own = "cvta.shared.u64 %l0, %l0; isspacep.shared::cta %p0, %l0; selp.u32 %d, 1, 0, %p0;";
  const std::string is_any = "cvta.shared.u64 %l0, %l0; isspacep.shared::cluster %p0, %l0; selp.u32 %d, 1, 0, %p0;";
  CHECK(each("mov.u64 %l0, mine;" + is_own) == Words{1, 1, 1, 1});
  CHECK(each("and.b32 %r1, %r0, 0xffffff; cvt.u64.u32 %l0, %r1;" + is_own) == Words{1, 0, 0, 0});
  CHECK(each("and.b32 %r1, %r0, 0xffffff; cvt.u64.u32 %l0, %r1;" + is_any) == Words{1, 1, 1, 1});
  const std::string of_first = std::string("st.shared.u32 [mine], %r2; and.b32 %r1, %r0, 0xffffff;") + both_arrive;
  CHECK(each(of_first + "ld.shared::cluster.u32 %d, [%r1];" + both_arrive) == Words{0, 0, 0, 0});
  CHECK(each(of_first + "cvt.u64.u32 %l0, %r1; cvta.shared.u64 %l0, %l0; ld.u32 %d, [%l0];" + both_arrive) == Words{0, 0, 0, 0});
  const std::string refused = "the address is one of block 0 of the cluster; the statement takes those of its own block";
  CHECK_THAT(message_of([&] { each(of_first + "ld.shared.u32 %d, [%r1];"); }), ContainsSubstring(refused));
  CHECK_THAT(message_of([&] { each(of_first + "mbarrier.init.shared.b64 [%r1], 1;"); }), ContainsSubstring(refused));
}

TEST_CASE("An own address whose bit 24 is cleared is that of the even block of a pair, however it is cleared", "[machine][cluster]") {
  // All blocks arrive at one mbarrier of each pair; the even blocks' await two arrivals, the odd blocks' one, their own.
  const auto arrives = [](const std::string& clear, const std::string& before = {}) {
    const std::string body = std::string(R"(
    .shared .align 8 .b64 full;
    mov.u32 %r1, full; mov.u32 %r2, %cluster_ctarank; and.b32 %r3, %r2, 1; setp.eq.u32 %p0, %r3, 1; selp.u32 %r4, 1, 2, %p0;
    mbarrier.init.shared::cta.b64 [%r1], %r4;
    fence.mbarrier_init.release.cluster;
)") + both_arrive + clear + both_arrive +
                             "mbarrier.test_wait.parity.shared::cta.b64 %p1, [%r1], 0; selp.u32 %d, 1, 0, %p1;" + both_arrive;
    return run(word_kernel(body, "sm_90", before), {4}, {4}, 1);
  };
  const std::vector<std::uint32_t> even{1, 0, 1, 0};
  const std::string arrive = "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r5];";
  CHECK(arrives("and.b32 %r5, %r1, 0xfeffffff;" + arrive) == even);
  CHECK(arrives("and.b32 %r5, %r1, -16777217;" + arrive) == even);
  CHECK(arrives("mov.u32 %r6, 0xfeffffff; and.b32 %r5, %r1, %r6;" + arrive) == even);  // the mask in a register
  CHECK(arrives("and.b32 %r6, %r1, 0xfeffffff; mov.b32 %r5, %r6;" + arrive) == even);  // a copy
  CHECK(arrives("and.b32 %r6, %r1, 0xfe000000; and.b32 %r7, %r1, 0xffffff; or.b32 %r5, %r6, %r7;" + arrive) == even);
  CHECK(arrives("lop3.b32 %r5, %r1, 0x1000000, 0, 0x30;" + arrive) == even);  // another instruction
  CHECK(arrives("shl.b32 %r6, %r3, 24; sub.u32 %r5, %r1, %r6;" + arrive) == even);
  const std::string function = ".func announce(.reg .b32 %r5) { " + arrive + " ret; }";
  CHECK(arrives("and.b32 %r6, %r1, 0xfeffffff; call announce, (%r6);", function) == even);
  // A register of that name in another scope, or the same before it gets another address: each block arrives at its own mbarrier.
  const std::vector<std::uint32_t> odd{0, 1, 0, 1};
  CHECK(arrives("{ .reg .b32 %r5; and.b32 %r5, %r1, 0xfeffffff; } mov.b32 %r5, %r1;" + arrive) == odd);
  CHECK(arrives("and.b32 %r5, %r1, 0xfeffffff; mov.b32 %r5, %r1;" + arrive) == odd);
}

TEST_CASE("The entry's .reqnctapercluster makes clusters, and is held", "[machine][cluster]") {
  const Module module(
      ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out)\n.reqnctapercluster 2, 1, 1\n"
      ".explicitcluster\n{ .reg .b32 %r<4>; .reg .b64 %l<4>; ld.param.u64 %l0, [out]; mov.u32 %r0, %ctaid.x;"
      "mul.wide.u32 %l1, %r0, 4; add.u64 %l0, %l0, %l1; mov.u32 %r1, %cluster_ctarank; st.global.u32 [%l0], %r1; ret; }");
  CHECK(run(module, {4}, {}, 1) == std::vector<std::uint32_t>{0, 1, 0, 1});
  CHECK(message_of([&] { run(module, {4}, {4}, 1); }).find("compiled for clusters of 2x1x1 blocks (.reqnctapercluster)") !=
        std::string::npos);
  CHECK(message_of([&] { run(module, {3}, {}, 1); }).find("a grid of 3x1x1 blocks is not made of clusters of 2x1x1") != std::string::npos);
  CHECK(message_of([&] { run(word_kernel(""), {32}, {32}, 1); }).find("a cluster of 32 blocks: there are from 1 to 16") !=
        std::string::npos);
}

TEST_CASE("Remote arrivals, and one copy for several blocks", "[machine][cluster]") {
  // Block 0 copies the buffer to blocks 0, 1 and 3; each of them waits at its own mbarrier. Block 2 gets an arrival from every block.
  const std::string body = std::string(R"(
    .shared .align 16 .b8 tile[64]; .shared .align 8 .b64 full;
    mov.u32 %r0, tile; mov.u32 %r1, full; mov.u32 %r2, %cluster_ctarank;
    setp.eq.u32 %p0, %r2, 2;
    setp.eq.u32 %p1, %r2, 0;
    @!%p0 mbarrier.init.shared::cta.b64 [%r1], 1;
    @%p0 mbarrier.init.shared::cta.b64 [%r1], 4;
    @!%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 64;
    fence.mbarrier_init.release.cluster;
)") + both_arrive + R"(
    mov.u64 %l0, in; mov.u16 %s0, 11;
    @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r0], [%l0], 64, [%r1], %s0;
    mapa.shared::cluster.u32 %r3, %r1, 2;
    mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r3];
    WAIT: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [%r1], 0;
    @!%p2 bra WAIT;
    mov.u32 %d, 1000;
    @!%p0 ld.shared.u32 %d, [%r0+4];
)" + both_arrive;
  const Module module = word_kernel(body, "sm_90", ".global .align 16 .b32 in[16] = {3, 14, 15};");
  CHECK(run(module, {4}, {4}, 1) == std::vector<std::uint32_t>{14, 14, 1000, 14});
}

TEST_CASE("st.async and red.async reach another block, and its mbarrier counts their bytes", "[machine][cluster]") {
  // Each block sends to the other: lane i its number to word i, two words of 100 + i and 200 + i behind them; every lane adds i to one word
  // and takes the maximum of i in a second. They start as what the block wrote there.
  const std::string body = std::string(R"(
    .shared .align 16 .b8 tile[512]; .shared .align 8 .b64 full;
    mov.u32 %r0, tile; mov.u32 %r1, full; mov.u32 %r2, %tid.x; mov.u32 %r3, %cluster_ctarank;
    setp.eq.u32 %p1, %r2, 0;
    @%p1 mbarrier.init.shared::cta.b64 [%r1], 1;
    @%p1 fence.mbarrier_init.release.cluster;
    @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 640;
    @%p1 st.shared.v2.u32 [%r0+384], {1000, 7};
)") + both_arrive + R"(
    xor.b32 %r4, %r3, 1;
    mapa.shared::cluster.u32 %r5, %r0, %r4; mapa.shared::cluster.u32 %r6, %r1, %r4;
    shl.b32 %r7, %r2, 2; add.u32 %r7, %r7, %r5;
    st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r7], %r2, [%r6];
    shl.b32 %r8, %r2, 3; add.u32 %r8, %r8, %r5;
    add.u32 %r9, %r2, 100; add.u32 %r10, %r2, 200;
    st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%r8+128], {%r9, %r10}, [%r6];
    red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r5+384], %r2, [%r6];
    red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.max.u32 [%r5+388], %r2, [%r6];
    WAIT: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [%r1], 0;
    @!%p2 bra WAIT;
    shl.b32 %r7, %r2, 2; add.u32 %r7, %r7, %r0; ld.shared.u32 %d, [%r7];
    shl.b32 %r8, %r2, 3; add.u32 %r8, %r8, %r0; ld.shared.v2.u32 {%r9, %r10}, [%r8+128];
    mad.lo.u32 %d, %r9, 1000, %d; mad.lo.u32 %d, %r10, 1000000, %d;
    ld.shared.v2.u32 {%r11, %r12}, [%r0+384];
    @%p1 mad.lo.u32 %d, %r12, 10000, %r11;
)" + both_arrive;
  std::vector<std::uint32_t> expected;
  for (std::uint32_t block = 0; block < 2; ++block)
    for (std::uint32_t i = 0; i < 32; ++i)
      expected.push_back(i == 0 ? 31 * 10000 + 1000 + 31 * 16 : (200 + i) * 1000000 + (100 + i) * 1000 + i);
  for (const std::uint64_t schedule : {0u, 3u})
    CHECK(run(word_kernel(body), {2}, {2}, 32, {.schedule = schedule, .checks = {.races = true}}) == expected);
}

TEST_CASE("An arrival at a block that has ended is passed over, and reported where races are looked for", "[machine][cluster]") {
  const Module module = word_kernel(R"(
    .shared .align 8 .b64 bar; mov.u32 %r0, bar; mov.u32 %r2, %cluster_ctarank;
    mbarrier.init.shared::cta.b64 [%r0], 32;
    setp.eq.u32 %p0, %r2, 0; @%p0 exit;
    mov.u32 %r1, 0;
    SLEEP: nanosleep.u32 100; add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 64; @%p1 bra SLEEP;
    mapa.shared::cluster.u32 %r1, %r0, 0;
    mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r1];
    mov.u32 %d, 5;)");
  CHECK(run(module, {2}, {2}, 1) == std::vector<std::uint32_t>{0, 5});
  CHECK(message_of([&] { run(module, {2}, {2}, 1, {.checks = {.races = true}}); }).find("block 0 of the cluster has ended") !=
        std::string::npos);
}

TEST_CASE("Reductions by bulk copies of several blocks to one place", "[machine][cluster]") {
  // Every block of four adds its number + 1 to the words of block 0.
  const std::string body = std::string(R"(
    .shared .align 16 .b8 from[128]; .shared .align 16 .b8 sums[128]; .shared .align 8 .b64 full;
    mov.u32 %r0, from; mov.u32 %r1, full; mov.u32 %r2, %tid.x; mov.u32 %r3, %cluster_ctarank; mov.u32 %r4, sums;
    shl.b32 %r5, %r2, 2; add.u32 %r6, %r5, %r4; add.u32 %r7, %r5, %r0; add.u32 %r8, %r3, 1;
    st.shared.u32 [%r6], %r2; st.shared.u32 [%r7], %r8;
    setp.eq.u32 %p1, %r2, 0; setp.eq.u32 %p2, %r3, 0;
    @%p1 mbarrier.init.shared::cta.b64 [%r1], 1;
    @%p1 fence.mbarrier_init.release.cluster;
    @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 512;
    fence.proxy.async;
)") + both_arrive + R"(
    mapa.shared::cluster.u32 %r9, %r4, 0; mapa.shared::cluster.u32 %r10, %r1, 0;
    @%p1 cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 [%r9], [%r0], 128, [%r10];
    @!%p2 bra SENT;
    WAIT: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p3, [%r1], 0;
    @!%p3 bra WAIT;
    ld.shared.u32 %d, [%r6];
    SENT: bar.warp.sync -1;
)" + both_arrive;
  const std::vector<std::uint32_t> words = run(word_kernel(body), {4}, {4}, 32, {.checks = {.races = true}});
  for (std::uint32_t i = 0; i < 32; ++i) CHECK(words[i] == i + 10);
}

TEST_CASE("What goes wrong between blocks is reported", "[machine][cluster]") {
  const auto report = [](const std::string& body) {
    return message_of(
        [&] { run(word_kernel(".shared .align 8 .b64 bar; mov.u32 %r0, bar; mov.u32 %r2, %cluster_ctarank;" + body), {2}, {2}, 32); });
  };
  CHECK(report("setp.eq.u32 %p0, %r2, 0; @%p0 bra END; barrier.cluster.arrive; barrier.cluster.wait; END:") == "nothing");
  CHECK(report("barrier.cluster.wait.aligned;").find("without a barrier.cluster.arrive before it") != std::string::npos);
  CHECK(report("mapa.shared::cluster.u32 %d, %r0, 9;") == "nothing");  // as on an H200
  CHECK(report("mapa.shared::cluster.u32 %r1, %r0, 2; ld.shared::cluster.u32 %d, [%r1];")
            .find("the address is one of block 2 of a cluster of 2") != std::string::npos);
  CHECK(report("mapa.shared::cluster.u32 %r1, %r0, 1; setp.eq.u32 %p0, %r2, 0; @%p0 ld.shared.u32 %d, [%r1];")
            .find("the statement takes those of its own block") != std::string::npos);
  CHECK(report("setp.eq.u32 %p0, %r2, 0; @%p0 exit; mapa.shared::cluster.u32 %r1, %r0, 0; st.shared::cluster.u32 [%r1], 1;")
            .find("block 0 of the cluster has ended") != std::string::npos);
  const std::string deadlock =
      report("setp.eq.u32 %p0, %r2, 0; @!%p0 bar.sync 1, 64; barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;");
  CHECK(deadlock.find("deadlock: no warp of the cluster can continue") != std::string::npos);
  CAPTURE(deadlock);
  CHECK(deadlock.find("; block (1, 0, 0): warp 0 waits here: barrier 1 has 32 of 64 threads: line 17 (bar.sync)") != std::string::npos);
}

TEST_CASE("A tensor map is edited on the device", "[machine][cluster]") {
  const Module module = module_of(".param .u64 map, .param .u64 out", R"(
    .reg .b64 %l<9>; .reg .b32 %r<9>; .reg .pred %p<3>;
    .shared .align 128 .b8 tile[64]; .shared .align 8 .b64 full;
    ld.param.u64 %l0, [map]; ld.param.u64 %l1, [out];
    mov.u32 %r0, tile; mov.u32 %r1, full;
    add.u64 %l2, %l1, 64;
    tensormap.replace.tile.global_address.global.b1024.b64 [%l0], %l2;
    tensormap.replace.tile.global_dim.global.b1024.b32 [%l0], 0, 12;
    fence.proxy.tensormap::generic.acquire.gpu [%l0], 128;
    mbarrier.init.shared::cta.b64 [%r1], 1;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 64;
    cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%r0], [%l0, {0}], [%r1];
    WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p0, [%r1], 0; @!%p0 bra WAIT;
    ld.shared.u32 %r2, [%r0+44]; st.global.u32 [%l1], %r2;
    ld.shared.u32 %r2, [%r0+48]; st.global.u32 [%l1+4], %r2;
    ret;
)",
                                  "sm_90a");
  DeviceMemory memory;
  std::vector<std::uint32_t> words(32);
  for (std::uint32_t i = 0; i < 32; ++i) words[i] = 100 + i;
  const std::uint64_t out = memory.allocate(words, "out");
  const TensorMap map{{.type = TensorMap::Type::u32, .rank = 1, .address = out, .dims = {16}, .box = {16}}};
  const TensorMap::Encoded encoded = map.encode();
  const std::uint64_t place = memory.allocate(std::span<const std::uint8_t>(encoded), "map");
  launch(Kernel(module, "k"), {{1}, {1}}, memory, {place, out});
  CHECK(memory.read<std::uint32_t>(out, 2) == std::vector<std::uint32_t>{100 + 16 + 11, 0});
}

TEST_CASE("A tensor map does not change while a copy reads it", "[machine][cluster][checks]") {
  const auto report = [](const std::string& before, const std::string& behind, Timing timing) {
    const Module module = module_of(".param .u64 map, .param .u64 out",
                                    R"(
    .reg .b64 %l<9>; .reg .b32 %r<9>; .reg .pred %p<3>;
    .shared .align 128 .b8 tile[64]; .shared .align 8 .b64 full;
    ld.param.u64 %l0, [map]; ld.param.u64 %l1, [out]; add.u64 %l2, %l1, 64;
    mov.u32 %r0, tile; mov.u32 %r1, full;
    mbarrier.init.shared::cta.b64 [%r1], 1; fence.mbarrier_init.release.cluster;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 64;
    cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%r0], [%l0, {0}], [%r1];
)" + before + "WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p0, [%r1], 0; @!%p0 bra WAIT;\n" +
                                        behind + "ret;",
                                    "sm_90a");
    DeviceMemory memory;
    const std::uint64_t out = memory.allocate(std::vector<std::uint32_t>(32), "out");
    const TensorMap::Encoded encoded =
        TensorMap({.type = TensorMap::Type::u32, .rank = 1, .address = out, .dims = {16}, .box = {16}}).encode();
    const std::uint64_t place = memory.allocate(std::span<const std::uint8_t>(encoded), "map");
    LaunchResult result;
    const std::string trap = message_of([&] {
      result = launch(Kernel(module, "k"), {{1}, {1}}, memory, {place, out}, {.timing = timing});
    });
    return result.warnings.empty() ? trap : "warning: " + result.warnings.front();
  };
  const std::string edit = "tensormap.replace.tile.global_address.global.b1024.b64 [%l0], %l2;\n";
  CHECK_THAT(report(edit, "", Timing::latest), ContainsSubstring("a tensor map changes while a bulk copy may still read it"));
  CHECK_THAT(report(edit, "", Timing::card), ContainsSubstring("warning: ") && ContainsSubstring("a tensor map changes"));
  CHECK(report("", edit, Timing::latest) == "nothing");
  CHECK(report("", edit, Timing::card) == "nothing");
}

TEST_CASE("A tensor map is made on the device from zeros, field by field", "[machine][cluster]") {
  struct Element {
    int number;  // of tensormap.replace.elemtype, which the driver's encoding does not share
    std::uint32_t bytes;
  };
  const auto [number, bytes] = GENERATE(Element{2, 4}, Element{6, 2}, Element{7, 4}, Element{9, 8}, Element{10, 2});
  INFO(number);
  const std::uint32_t elements = 64 / bytes, within = 48 / bytes;  // of the box of 64 bytes, 48 are in the tensor
  const Module module = module_of(".param .u64 map, .param .u64 out",
                                  fmt::format(R"(
    .reg .b64 %l<9>; .reg .b32 %r<9>; .reg .pred %p<3>;
    .shared .align 128 .b8 map_here[128]; .shared .align 128 .b8 tile[64]; .shared .align 8 .b64 full;
    ld.param.u64 %l0, [map]; ld.param.u64 %l1, [out];
    mov.u32 %r0, tile; mov.u32 %r1, full; mov.u32 %r3, map_here; mov.u32 %r5, %tid.x; mov.b32 %r4, 0;
    mad.lo.u32 %r6, %r5, 4, %r3; st.shared.b32 [%r6], %r4;
    setp.ne.u32 %p1, %r5, 0; bar.warp.sync -1;
    @%p1 bra MADE;
    tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%r3], %l1;
    tensormap.replace.tile.rank.shared::cta.b1024.b32 [%r3], 0;
    tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%r3], 0, {};
    tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%r3], 0, {};
    tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%r3], 0, 1;
    tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%r3], {};
    tensormap.replace.tile.interleave_layout.shared::cta.b1024.b32 [%r3], 0;
    tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%r3], 0;
    tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [%r3], 0;
    MADE: bar.warp.sync -1;
    tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%l0], [%r3], 128;
    @%p1 exit;
    fence.proxy.tensormap::generic.acquire.gpu [%l0], 128;
    mbarrier.init.shared::cta.b64 [%r1], 1;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 64;
    cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%r0], [%l0, {{0}}], [%r1];
    WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p0, [%r1], 0; @!%p0 bra WAIT;
    ld.shared.u32 %r2, [%r0+44]; st.global.u32 [%l1], %r2;
    ld.shared.u32 %r2, [%r0+48]; st.global.u32 [%l1+4], %r2;
    ret;
)",
                                              elements, within, number),
                                  "sm_90a");
  DeviceMemory memory;
  std::vector<std::uint32_t> words(32);
  for (std::uint32_t i = 0; i < 32; ++i) words[i] = 100 + i;
  const std::uint64_t out = memory.allocate(words, "out"), place = memory.allocate(TensorMap::bytes, "map");
  launch(Kernel(module, "k"), {{1}, {32}}, memory, {place, out});
  CHECK(memory.read<std::uint32_t>(out, 2) == std::vector<std::uint32_t>{100 + 11, 0});
}

TEST_CASE("Copies of .cta_group::2 count at the mbarrier of either block of a pair", "[machine][cluster]") {
  // Each block of a cluster of four copies 64 bytes to itself. Pairs count at the even block, whose mbarrier awaits two copies.
  const auto body = [](const std::string& expected, const std::string& issue) {
    return R"(
    .shared .align 128 .b8 tile[128]; .shared .align 8 .b64 full;
    mov.b64 %l0, map; cvta.param.u64 %l0, %l0;
    mov.u32 %r0, tile; mov.u32 %r1, full; mov.u32 %r2, %cluster_ctarank; and.b32 %r3, %r2, 1; setp.eq.u32 %p0, %r3, 0;
    mbarrier.init.shared::cta.b64 [%r1], 1;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], )" +
           expected + R"(;
    fence.mbarrier_init.release.cluster; fence.proxy.async;
    barrier.cluster.arrive; barrier.cluster.wait;
    shl.b32 %r4, %r2, 4; and.b32 %r5, %r1, 0xfeffffff; mov.u16 %s0, 15; setp.eq.u32 %p2, %r2, 1;
)" + issue +
           R"(
    @!%p0 bra DONE;
    WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1], 0; @!%p1 bra WAIT;
    DONE: barrier.cluster.arrive; barrier.cluster.wait;
    ld.shared.u32 %d, [%r0+4];
)";
  };
  const auto run = [](const std::string& text) {
    DeviceMemory memory;
    std::vector<std::uint32_t> words(64);
    for (std::uint32_t i = 0; i < 64; ++i) words[i] = 100 + i;
    const std::uint64_t from = memory.allocate(words, "from"), out = memory.allocate(16, "out");
    const TensorMap map{{.type = TensorMap::Type::u32, .rank = 1, .address = from, .dims = {64}, .box = {16}}};
    const Module module = module_of(".param .u64 out, .param .align 64 .b8 map[128]", R"(
    .reg .b32 %r<20>, %d; .reg .b16 %s<2>; .reg .b64 %l<9>; .reg .pred %p<6>;
)" + text + R"(
    ld.param.u64 %l1, [out]; mul.wide.u32 %l2, %r2, 4; add.u64 %l1, %l1, %l2; st.global.u32 [%l1], %d; ret;
)",
                                    "sm_100a");
    launch(Kernel(module, "k"), {.grid = {4}, .block = {1}, .cluster = {4}}, memory, {out, map.encode()});
    return memory.read<std::uint32_t>(out, 4);
  };
  const std::string spelled =
      "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.cta_group::2 [%r0], [%l0, {%r4}], [%r5];";
  CHECK(run(body("128", spelled)) == std::vector<std::uint32_t>{101, 117, 133, 149});
  // Block 1 sends row 1 to all four; each pair's even block counts both copies.
  const std::string to_all =
      "@%p2 cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster.cta_group::2 [%r0], [%l0, "
      "{%r4}], [%r5], %s0;";
  CHECK(run(body("128", to_all)) == std::vector<std::uint32_t>{117, 117, 117, 117});
  const std::string plain =
      "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.cta_group::1 [%r0], [%l0, {%r4}], [%r1];";
  CHECK(run(body("64", plain + "@%p0 bra WAIT; ODD: mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1], 0; @!%p1 bra ODD;")) ==
        std::vector<std::uint32_t>{101, 117, 133, 149});
  const std::string far =
      "mov.u32 %r6, 3; mapa.shared::cluster.u32 %r7, %r1, %r6;"
      "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.cta_group::2 [%r0], [%l0, {%r4}], [%r7];";
  CHECK_THAT(message_of([&] { run(body("128", far)); }), ContainsSubstring("with .cta_group::2 both belong to one pair"));
}

// Clusters without a warp that can continue: each ends with a report, whether its blocks poll or wait.

constexpr const char* meet = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned; ";
constexpr const char* wait = "LOOP: mbarrier.try_wait.parity.shared.b64 %p2, [%r1], 0; @!%p2 bra LOOP; ";

/// What a launch of two blocks of two warps, each with an mbarrier for one arrival, ends with: `first` and `second` are what they do.
std::string end_of(const std::string& first, const std::string& second) {
  const Module module = word_kernel(std::string(".shared .b64 full; mov.u32 %r1, full; mov.u32 %r9, %tid.x; setp.eq.u32 %p1, %r9, 0; ") +
                                    "@%p1 mbarrier.init.shared.b64 [%r1], 1; " + meet +
                                    "mov.u32 %r2, %cluster_ctarank; xor.b32 %r3, %r2, 1; "
                                    "mapa.shared::cluster.u32 %r3, %r1, %r3; setp.eq.u32 %p3, %r2, 1; @%p3 bra SECOND; " +
                                    first + " bra END; SECOND: " + second + " END:");
  DeviceMemory memory;
  const std::uint64_t out = memory.allocate(4 * 128, "out");
  return message_of(
      [&] { launch(Kernel(module, "k"), {.grid = {2}, .block = {64}, .cluster = {2}}, memory, {out}, {.most_operations = 10'000'000}); });
}

TEST_CASE("A block waits at its mbarrier for another block that never arrives", "[machine][cluster][deadlock]") {
  const std::string wanted =
      "mbarrier 'full' at 0x400: its phase of parity 0 misses 1 of 1 arrivals; no phase has ended, and nothing has come since";
  for (const std::string other : {"exit;", meet, "bar.sync 1, 128;"}) {
    INFO(other);
    for (const auto& message : {end_of(wait, other), end_of(other, wait)}) {
      CHECK_THAT(message, ContainsSubstring("deadlock: no warp of the cluster can continue"));
      CHECK_THAT(message, ContainsSubstring(wanted));
    }
  }
}

TEST_CASE("One warp of a block waits at an mbarrier, the other one at a barrier or not at all", "[machine][cluster][deadlock]") {
  const std::string one = "setp.lt.u32 %p4, %r9, 32; @%p4 bra AWAY; " + std::string(wait);
  for (const std::string rest : {"AWAY: bar.sync 0;", "bar.sync 0; AWAY: exit;", "AWAY: exit;"}) {
    INFO(rest);
    CHECK_THAT(end_of(one + rest, "exit;"), ContainsSubstring("deadlock: no warp of the cluster can continue"));
  }
}

TEST_CASE("Blocks that wait for each other's arrival are a deadlock, with an arrival they are none", "[machine][cluster][deadlock]") {
  CHECK_THAT(end_of(wait, wait), ContainsSubstring("deadlock: no warp of the cluster can continue"));
  const std::string arrive = "@%p1 mbarrier.arrive.shared::cluster.b64 _, [%r3]; ";
  CHECK(end_of(arrive + wait + meet, arrive + "LOOP2: mbarrier.try_wait.parity.shared.b64 %p2, [%r1], 0; @!%p2 bra LOOP2; " + meet) ==
        "nothing");
}

TEST_CASE("A loop that counts its tests is no deadlock before it ends", "[machine][deadlock]") {
  const auto found = words_of(word_kernel(".shared .b64 full; mov.u32 %r1, full; setp.eq.u32 %p1, %i, 0; "
                                          "@%p1 mbarrier.init.shared.b64 [%r1], 64; bar.sync 0; "
                                          "LOOP: mbarrier.try_wait.parity.shared.b64 %p2, [%r1], 0; add.u32 %d, %d, 1; "
                                          "setp.lt.and.u32 %p3, %d, 5000, !%p2; @%p3 bra LOOP;"),
                              {1}, {32});
  CHECK(found == std::vector<std::uint32_t>(32, 5000));
}

}  // namespace
}  // namespace warpmat::cluster_test
