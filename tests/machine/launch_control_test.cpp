// clusterlaunchcontrol: blocks that take over the work of clusters which have not begun; st.bulk.

#include "machine/kernel.h"
#include "test.h"

namespace warpmat::launch_control_test {
namespace {

/// Every block adds 1000 + its own number to the word of each cluster that it works for, and 1 to `count` for each; then it tries another.
/// One thread a block.
Module persistent(const std::string& target = "sm_100a") {
  return module_of(".param .u64 out", R"(
    .reg .b32 %r<20>; .reg .b64 %l<9>; .reg .pred %p<6>; .reg .b128 %q;
    .shared .align 16 .b8 answer[16]; .shared .align 8 .b64 full;
    ld.param.u64 %l0, [out];
    mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ctaid.y; mov.u32 %r2, %nctaid.x;
    mov.u32 %r3, %cluster_ctarank; setp.eq.u32 %p1, %r3, 0;
    mad.lo.u32 %r9, %r1, %r2, %r0; add.u32 %r9, %r9, 1000; sub.u32 %r0, %r0, %r3;  // the first block of the cluster
    mov.u32 %r4, answer; mov.u32 %r5, full; mov.u32 %r6, 0;
    mbarrier.init.shared::cta.b64 [%r5], 1;
    barrier.cluster.arrive; barrier.cluster.wait;
    NEXT: mbarrier.arrive.expect_tx.relaxed.cluster.shared::cta.b64 _, [%r5], 16;
    @%p1 clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.multicast::cluster::all.b128 [%r4], [%r5];
    mad.lo.u32 %r7, %r1, %r2, %r0; add.u32 %r7, %r7, %r3; mul.wide.u32 %l1, %r7, 4; add.u64 %l1, %l0, %l1;
    red.global.add.u32 [%l1], %r9;
    WAIT: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [%r5], %r6; @!%p2 bra WAIT;
    xor.b32 %r6, %r6, 1;
    ld.shared.b128 %q, [%r4];
    clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p3, %q;
    @!%p3 bra END;
    clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%r0, %r1, %r8, _}, %q;
    clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r10, %q;
    clusterlaunchcontrol.query_cancel.get_first_ctaid::y.b32.b128 %r11, %q;
    clusterlaunchcontrol.query_cancel.get_first_ctaid::z.b32.b128 %r12, %q;
    setp.ne.u32 %p4, %r0, %r10; @%p4 trap; setp.ne.u32 %p4, %r1, %r11; @%p4 trap; setp.ne.u32 %p4, %r8, %r12; @%p4 trap;
    barrier.cluster.arrive; barrier.cluster.wait;
    bra NEXT;
    END: ret;
)",
                   target);
}

std::vector<std::uint32_t> run(Dim3 grid, Dim3 cluster, const LaunchOptions& options = {}) {
  DeviceMemory memory;
  const std::uint64_t out = memory.allocate(4 * grid.count(), "out");
  launch(Kernel(persistent(), "k"), {.grid = grid, .block = {1}, .cluster = cluster}, memory, {out}, options);
  return memory.read<std::uint32_t>(out, grid.count());
}

TEST_CASE("each cluster is worked for once, by itself or by the one that has taken it", "[machine][cluster]") {
  struct Shape {
    Dim3 grid, cluster;
  };
  for (const Shape& s : {Shape{{1}, {1}}, Shape{{2}, {1}}, Shape{{7}, {1}}, Shape{{8, 3}, {1}}, Shape{{12, 2}, {2}}}) {
    const std::vector<std::uint32_t> words = run(s.grid, s.cluster);
    int taken = 0;
    for (std::size_t i = 0; i < words.size(); ++i) {
      INFO(s.grid.x << " " << i);
      REQUIRE(words[i] >= 1000);
      REQUIRE(words[i] < 1000 + words.size());  // one addition alone
      taken += words[i] != 1000 + i ? 1 : 0;
    }
    CHECK((taken > 0) == (s.grid.count() / s.cluster.count() > 1));
    for (const int jobs : {2, 4}) CHECK(run(s.grid, s.cluster, {.jobs = jobs}) == words);
  }
  const std::vector<std::uint32_t> other = run({8, 3}, {1}, {.schedule = 7});
  CHECK(std::ranges::all_of(other, [](std::uint32_t word) { return word >= 1000 && word < 1024; }));
  CHECK(other != run({8, 3}, {1}));
}

TEST_CASE("a cluster that no block takes begins by itself", "[machine][cluster]") {
  const auto words = words_of(word_kernel(R"(
    .shared .align 16 .b8 answer[16]; .shared .align 8 .b64 full;
    mov.u32 %r4, answer; mov.u32 %r5, full;
    mbarrier.init.shared::cta.b64 [%r5], 1;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], 16;
    setp.ne.u32 %p1, %c, 1;
    @%p1 bra OVER;
    clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%r4], [%r5];
    OVER: add.u32 %d, %c, 5;
)",
                                          "sm_100a"),
                              {10}, {1});
  for (std::uint32_t i = 0; i < 10; ++i) CHECK(words[i] == (i == 4 ? 0 : i + 5));  // block 1 of 3 in the first wave took block 4
}

TEST_CASE("st.bulk writes zeros", "[machine]") {
  const auto kernel = [](const std::string& statement) {
    return word_kernel(R"(
    .shared .align 16 .b8 area[512];
    mov.u32 %r1, area; shl.b32 %r2, %i, 2; add.u32 %r2, %r1, %r2;
    st.shared.u32 [%r2], 7;
    bar.sync 0;
    setp.ne.u32 %p1, %i, 0; mov.u64 %l1, 24; cvt.u64.u32 %l2, %r1; cvta.shared.u64 %l2, %l2; mov.u64 %l3, 12;
    @%p1 bra DONE;
)" + statement + R"(
    DONE: bar.sync 0;
    ld.shared.u32 %d, [%r2];
)",
                       "sm_100a");
  };
  for (const char* statement : {"st.bulk.weak.shared::cta [%r1+8], %l1, 0;", "st.bulk [%l2+8], 24, 0;"}) {
    const auto words = words_of(kernel(statement), {1}, {128});
    for (std::uint32_t i = 0; i < 128; ++i) CHECK(words[i] == (i >= 2 && i < 8 ? 0 : 7));
  }
  CHECK_THAT(trap_of(kernel("st.bulk.shared::cta [%r1], %l3, 0;"), {128}), ContainsSubstring("12 bytes are set: a multiple of 8"));
  CHECK_THAT(trap_of(kernel("st.bulk.shared::cta [%r1+496], %l1, 0;"), {128}), ContainsSubstring("outside of shared memory"));
  CHECK_THAT(message_of([&] { Kernel(kernel("st.bulk.shared::cta [%r1], 7, 0;"), "k"); }), ContainsSubstring("a multiple of 8"));
}

}  // namespace
}  // namespace warpmat::launch_control_test
