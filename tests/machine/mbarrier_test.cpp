// mbarriers: phases, states, counts of arrivals and bytes, and what the report says where a phase never completes. Kernels of one or more
// warps; what they should write is computed here from the ISA's description of an mbarrier.

#include "machine/kernel.h"
#include "test.h"

namespace warpmat::mbarrier_test {
namespace {

/// `bar`, an mbarrier at the address in %r19, initialised for `count` arrivals by thread 0; then a block barrier.
std::string with_barrier(int count, const std::string& body) {
  return R"(
    .shared .align 8 .b64 bar;
    mov.u32 %r19, bar;
    setp.eq.u32 %p19, %i, 0;
    @%p19 mbarrier.init.shared::cta.b64 [%r19], )" +
         std::to_string(count) + R"(;
    fence.mbarrier_init.release.cluster;
    bar.sync 0;
)" + body;
}

constexpr const char* wait_parity_0 = R"(
    WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p0, [%r19], 0, 1000;
    @!%p0 bra WAIT;
)";

TEST_CASE("A phase is over when all have arrived; the state of an arrival is that phase's", "[machine][mbarrier]") {
  const std::string body = with_barrier(64, R"(
    mbarrier.arrive.shared::cta.b64 %l0, [%r19];
    WAIT: mbarrier.test_wait.shared::cta.b64 %p0, [%r19], %l0;
    @!%p0 bra WAIT;
    mbarrier.test_wait.parity.shared::cta.b64 %p1, [%r19], 0;  // over
    mbarrier.test_wait.parity.shared::cta.b64 %p2, [%r19], 1;  // has begun
    selp.u32 %d, 1, 0, %p1;
    @%p2 add.u32 %d, %d, 2;
)");
  CHECK(words_of(word_kernel(body), {1}, {64}) == std::vector<std::uint32_t>(64, 1));
}

TEST_CASE("Lanes of a warp that wait for other phases or at other mbarriers have results of their own", "[machine][mbarrier]") {
  const std::string phases = with_barrier(1, R"(
    and.b32 %r5, %i, 1;
    mbarrier.test_wait.parity.shared::cta.b64 %p1, [%r19], %r5;
    selp.u32 %d, 1, 0, %p1;
)");
  const std::vector<std::uint32_t> over = words_of(word_kernel(phases), {1}, {32});
  for (std::uint32_t lane = 0; lane < 32; ++lane) CHECK(over[lane] == lane % 2);
  const std::string places = with_barrier(1, R"(
    .shared .align 8 .b64 other;
    mov.u32 %r18, other;
    @%p19 mbarrier.init.shared::cta.b64 [%r18], 1;
    @%p19 mbarrier.arrive.shared::cta.b64 %l0, [%r18];
    bar.sync 0;
    and.b32 %r5, %i, 3;
    setp.eq.u32 %p2, %r5, 3;
    @%p2 mov.u32 %r19, %r18;
    mbarrier.test_wait.parity.shared::cta.b64 %p1, [%r19], 0;
    selp.u32 %d, 1, 0, %p1;
)");
  const std::vector<std::uint32_t> arrived = words_of(word_kernel(places), {1}, {32});
  for (std::uint32_t lane = 0; lane < 32; ++lane) CHECK(arrived[lane] == (lane % 4 == 3 ? 1 : 0));
}

TEST_CASE("mbarrier.pending_count counts what was missing before an arrival", "[machine][mbarrier]") {
  const std::string body = with_barrier(40, R"(
    mbarrier.arrive.shared::cta.b64 %l0, [%r19];
    mbarrier.pending_count.b64 %d, %l0;
)");
  const std::vector<std::uint32_t> counts = words_of(word_kernel(body), {1}, {32});
  for (std::uint32_t lane = 0; lane < 32; ++lane) CHECK(counts[lane] == 40 - lane);
}

TEST_CASE("Arrivals with a count, and those that leave the later phases", "[machine][mbarrier]") {
  // Phase 0: 8 arrivals, 4 of them leave; phase 1: the 4 others, one by one, the first state says so.
  const std::string body = with_barrier(8, R"(
    @%p19 mbarrier.arrive_drop.shared::cta.b64 _, [%r19], 4;
    @%p19 mbarrier.arrive.shared::cta.b64 _, [%r19], 4;
    bar.sync 0;
    @%p19 mbarrier.arrive.shared::cta.b64 %l0, [%r19];
    @%p19 mbarrier.pending_count.b64 %d, %l0;
)");
  CHECK(words_of(word_kernel(body), {1}, {32}).front() == 4);
}

TEST_CASE("A phase waits for bytes too; they may come before they are expected", "[machine][mbarrier]") {
  const std::string body = with_barrier(1, std::string(R"(
    @%p19 mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r19], 16;
    @%p19 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r19], 48;
    mbarrier.test_wait.parity.shared::cta.b64 %p1, [%r19], 0;
    selp.u32 %d, 1, 2, %p1;
    bar.sync 0;
    @%p19 mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r19], 32;
)") + wait_parity_0 + "add.u32 %d, %d, 4;");
  CHECK(words_of(word_kernel(body), {1}, {32}) == std::vector<std::uint32_t>(32, 6));
}

TEST_CASE("cp.async.mbarrier.arrive comes behind the thread's copies", "[machine][mbarrier]") {
  const auto body = [](const char* suffix, const char* arrival) {
    return with_barrier(32, R"(
    .shared .align 16 .b8 tile[1024];
    mov.u32 %r0, tile;
    mad.lo.u32 %r0, %i, 16, %r0;
    mov.u64 %l1, in;
    mul.wide.u32 %l2, %i, 16;
    add.u64 %l1, %l1, %l2;
    cp.async.ca.shared.global [%r0], [%l1], 16;
    cp.async.mbarrier.arrive)" + std::string(suffix) +
                                R"(.shared::cta.b64 [%r19];
)" + arrival + wait_parity_0 + "ld.shared.u32 %d, [%r0+4];");
  };
  const std::string before = ".global .align 16 .b32 in[128] = {1, 2, 3, 4, 5, 6, 7, 8};";
  CHECK(words_of(word_kernel(body(".noinc", ""), "sm_90", before), {1}, {32})[1] == 6);
  // Without .noinc the arrival is one more: those that are expected come besides.
  CHECK(words_of(word_kernel(body("", "mbarrier.arrive.shared::cta.b64 _, [%r19];"), "sm_90", before), {1}, {32})[1] == 6);
}

TEST_CASE("What an mbarrier may not do is reported", "[machine][mbarrier]") {
  struct Wrong {
    const char* name;
    const char* body;
    const char* reason;
  };
  const auto wrong = GENERATE(
      Wrong{"no mbarrier there", "@%p19 mbarrier.inval.shared::cta.b64 [%r19]; mbarrier.arrive.shared::cta.b64 %l0, [%r19];",
            "there is no mbarrier that mbarrier.init has made: 0 bytes into 'bar'"},
      Wrong{"too many arrivals", "@%p19 mbarrier.arrive.shared::cta.b64 %l0, [%r19], 3;",
            "3 arrivals at an mbarrier whose phase misses 2 of 2; mbarrier 'bar' at 0x400: its phase of parity 0 misses 2 of 2 arrivals"},
      Wrong{"noComplete completes", "@%p19 mbarrier.arrive.noComplete.shared::cta.b64 %l0, [%r19], 2;",
            "an arrival with .noComplete completes the phase"},
      Wrong{"an odd address", "add.u32 %r19, %r19, 4; mbarrier.arrive.shared::cta.b64 %l0, [%r19];", "not a multiple of 8"},
      Wrong{"another space", "cvta.global.u64 %l0, %out; mbarrier.arrive.b64 %l1, [%out];", "the address is none of shared memory"},
      Wrong{"too many bytes", "@%p19 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r19], 1048576;", "an mbarrier counts to 1048575"});
  CAPTURE(wrong.name);
  CHECK(trap_of(word_kernel(with_barrier(2, wrong.body)), {32}).find(wrong.reason) != std::string::npos);
}

TEST_CASE("A phase that never ends is a deadlock, which says what is missing", "[machine][mbarrier]") {
  const std::string arrivals =
      trap_of(word_kernel(with_barrier(3, std::string("@%p19 mbarrier.arrive.shared::cta.b64 _, [%r19];") + wait_parity_0)), {64});
  CHECK(arrivals.find("deadlock: no warp of the block can continue") != std::string::npos);
  CHECK(arrivals.find("mbarrier 'bar' at 0x400: its phase of parity 0 misses 2 of 3 arrivals; no phase has ended: line ") !=
        std::string::npos);
  CHECK(arrivals.find("(mbarrier.try_wait.parity.shared::cta.b64); initialised here by warp 0 with a count of 3: line ") !=
        std::string::npos);
  const std::string bytes = trap_of(
      word_kernel(with_barrier(1, std::string("@%p19 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r19], 512;") + wait_parity_0)), {32});
  CHECK(bytes.find("misses 0 of 1 arrivals and 512 bytes that never arrive") != std::string::npos);
}

TEST_CASE("mbarrier statements that ptxas 13.0 refuses are refused", "[machine][mbarrier]") {
  for (const char* statement :
       {"mbarrier.init.shared::cluster.b64 [%r19], 1;", "mbarrier.arrive.shared::cluster.b64 %l0, [%r19];",
        "mbarrier.try_wait.parity.shared::cluster.b64 %p0, [%r19], 0;", "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r19];",
        "mbarrier.arrive.noComplete.shared::cta.b64 %l0, [%r19];", "mbarrier.test_wait.shared::cta.b64 %p0, [%r19], %r0;"}) {
    CAPTURE(statement);
    const Module module = word_kernel(with_barrier(1, statement));
    CHECK_THROWS_AS(Kernel(module, "k"), SyntaxError);
  }
  const Module older = word_kernel(with_barrier(1, "mbarrier.try_wait.parity.shared::cta.b64 %p0, [%r19], 0;"), "sm_80");
  CHECK(message_of([&] { Kernel(older, "k"); }).find("needs sm_90 or later") != std::string::npos);
}

}  // namespace
}  // namespace warpmat::mbarrier_test
