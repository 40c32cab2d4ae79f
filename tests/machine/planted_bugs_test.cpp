// Kernels with one planted bug each, at the line that says BUG: the report names that line. Their right twins, and other right kernels, get
// no report with all checks on.

#include "machine/planted.h"
#include "test.h"

namespace warpmat::planted_bugs_test {
namespace {

constexpr Checks all_checks{.uninitialised = true, .copies = true, .races = true};
constexpr std::uint64_t enough_operations = 20'000'000;

/// A kernel of word_kernel's kind with `in`, a second buffer of 4096 bytes, in %l19, and `tile`, 4096 bytes of shared memory, in %r19.
Module planted(std::string_view body) {
  return word_kernel(std::string(R"(
    .shared .align 16 .b8 tile[4096];
    .shared .align 4 .b8 after[12];
    mov.u32 %r19, tile;
    mov.u64 %l19, in;
    cvta.global.u64 %l19, %l19;
)") + std::string(body),
                     "sm_90", ".global .align 16 .b8 in[4096];");
}

Report report_of(const Module& module, std::uint32_t threads, const Checks& checks, std::uint64_t schedule = 0) {
  return warpmat::report_of(module, {{1}, {threads}}, {.schedule = schedule, .most_operations = enough_operations, .checks = checks});
}

struct Bug {
  const char* name;
  std::uint32_t threads;
  const char* body;
  const char* reason;  ///< part of the report
  bool races = false;  ///< found by that check only
};

const Bug bugs[] = {
    {"a load beyond a buffer", 32, R"(
        add.s64 %l0, %out, 64;
        ld.global.u32 %d, [%l0]; // BUG)",
     "lane 16, line"},
    {"a store before a buffer", 32, R"(
        st.global.u32 [%out+-64], %d; // BUG)",
     "64 bytes before buffer 'out' of 128 bytes"},
    {"a vector that reaches over a buffer's end", 7, R"(
        mov.u32 %r0, 0;
        sub.s64 %l0, %out, %offset;
        ld.global.v2.u64 {%l1, %l2}, [%l0+16]; // BUG)",
     "the last 4 bytes lie beyond the end of buffer 'out' of 28 bytes"},
    {"one variable of the module too far", 32, R"(
        ld.global.u32 %d, [%l19+4096]; // BUG)",
     "0 bytes beyond the end of buffer 'in'"},
    {"a load beyond shared memory", 32, R"(
        ld.shared.u32 %d, [%r19+100000]; // BUG)",
     "outside of shared memory"},
    {"an access across two shared variables", 1, R"(
        .shared .align 4 .b8 last[8];
        mov.u32 %r0, after;
        st.shared.u32 [%r0+8], 1;
        mov.u32 %r1, last;
        ld.shared.u64 %l0, [%r0+8]; // BUG)",
     "reach across two variables; the first is 8 bytes into 'after', a shared variable of 12 bytes, the last 3 bytes into 'last'"},
    {"local memory too far", 32, R"(
        .local .align 4 .b8 mine[16];
        mov.u64 %l0, mine;
        st.local.u32 [%l0+16], %i; // BUG)",
     "outside of local memory"},
    {"a misaligned vector", 32, R"(
        ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%l19+8]; // BUG)",
     "the address is not a multiple of 16"},
    {"a misaligned row of ldmatrix", 32, R"(
        shl.b32 %r0, %i, 4;
        setp.eq.u32 %p0, %i, 5;
        @%p0 add.u32 %r0, %r0, 8;
        add.u32 %r0, %r0, %r19;
        ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1, %r2, %r3, %r4}, [%r0]; // BUG)",
     "lane 5, line"},
    {"a misaligned cp.async", 32, R"(
        cp.async.cg.shared.global [%r19], [%l19+8], 16; // BUG)",
     "the address is not a multiple of 16"},
    {"a branch on an uninitialised value", 32, R"(
        ld.shared.u32 %r0, [%r19];
        setp.eq.u32 %p0, %r0, 0;
        @%p0 bra $zero; // BUG
        mov.u32 %d, 1;
        $zero: )",
     "the branch's predicate comes from uninitialised shared memory; address 0x400 is 0 bytes into 'tile'"},
    {"an address from an uninitialised value", 32, R"(
        st.shared.u32 [%r19], 0;
        ld.shared.v2.u32 {%r0, %r1}, [%r19];
        cvt.u64.u32 %l0, %r1;
        add.s64 %l1, %l19, %l0;
        ld.global.u8 %d, [%l1]; // BUG)",
     "the address comes from uninitialised shared memory; address 0x404"},
    {"an uninitialised value is stored, through a shuffle and a sum", 32, R"(
        setp.lt.u32 %p0, %i, 31;
        shl.b32 %r0, %i, 2;
        add.u32 %r0, %r0, %r19;
        @%p0 st.shared.u32 [%r0], %i;
        bar.sync 0;
        ld.shared.u32 %r1, [%r0];
        shfl.sync.bfly.b32 %r1, %r1, 1, 31, -1;
        add.u32 %r1, %r1, 1;
        st.global.u32 [%out], %r1; // BUG)",
     "lane 30, line"},
    {"an uninitialised row of A", 32, R"(
        shl.b32 %r0, %i, 4;
        add.u32 %r0, %r0, %r19;
        setp.ne.u32 %p0, %i, 3;
        mov.u32 %r1, 0;
        @%p0 st.shared.v4.b32 [%r0], {%r1, %r1, %r1, %r1};
        bar.warp.sync -1;
        ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r2, %r3, %r4, %r5}, [%r0];
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%r2, %r3, %r4, %r5}, {%r1, %r1}, {%f4, %f4, %f4, %f4};
        st.global.f32 [%out], %f0; // BUG)",
     "lane 12, line"},
    {"a missing wait", 64, R"(
        shl.b32 %r0, %i, 4;
        add.u32 %r1, %r0, %r19;
        cvt.u64.u32 %l0, %r0;
        add.s64 %l1, %l19, %l0;
        cp.async.cg.shared.global [%r1], [%l1], 16;
        cp.async.commit_group;
        cp.async.wait_group 1;
        bar.sync 0;
        ld.shared.u32 %d, [%r1]; // BUG)",
     "a cp.async that has not been waited for"},
    {"a tile that is filled again while another warp reads it", 64, R"(
        shl.b32 %r0, %i, 2;
        add.u32 %r1, %r0, %r19;
        st.shared.u32 [%r1], %i;
        bar.sync 0;
        setp.lt.u32 %p1, %i, 32;
        xor.b32 %r0, %r0, 128;
        add.u32 %r2, %r0, %r19;
        @!%p1 cp.async.ca.shared.global [%r2], [%l19], 4;
        nanosleep.u32 10;
        @%p1 ld.shared.u32 %d, [%r1]; // BUG)",
     "nothing orders this load and the cp.async of warp 1"},
    {"a store into what is being copied", 32, R"(
        shl.b32 %r0, %i, 4;
        add.u32 %r1, %r0, %r19;
        cp.async.ca.shared.global [%r1], [%l19], 4;
        st.shared.u16 [%r1+2], %s0; // BUG)",
     "store to the destination of a cp.async that has not been waited for; address 0x402 is 2 bytes into 'tile'"},
    {"a missing barrier behind the wait", 64, R"(
        shl.b32 %r0, %i, 4;
        add.u32 %r1, %r0, %r19;
        cp.async.cg.shared.global [%r1], [%l19], 16;
        cp.async.wait_all;
        xor.b32 %r0, %r0, 512;
        add.u32 %r1, %r0, %r19;
        bar.warp.sync -1;
        nanosleep.u32 10;
        ld.shared.u32 %d, [%r1]; // BUG)",
     "but no barrier since then lets other warps read it"},
    {"a missing barrier", 64, R"(
        shl.b32 %r0, %i, 2;
        add.u32 %r1, %r0, %r19;
        st.shared.u32 [%r1], %i;
        xor.b32 %r0, %r0, 128;
        add.u32 %r1, %r0, %r19;
        nanosleep.u32 10;
        ld.shared.u32 %d, [%r1]; // BUG)",
     "nothing orders this", true},
    {"a missing barrier before the next turn overwrites", 64, R"(
        mov.u32 %r5, 0;
        shl.b32 %r0, %i, 2;
        add.u32 %r1, %r0, %r19;
        xor.b32 %r0, %r0, 128;
        add.u32 %r2, %r0, %r19;
        $loop:
        st.shared.u32 [%r1], %i; // BUG
        bar.sync 0;
        ld.shared.u32 %r3, [%r2];
        add.u32 %d, %d, %r3;
        add.u32 %r5, %r5, 1;
        setp.lt.u32 %p0, %r5, 3;
        @%p0 bra $loop;)",
     "nothing orders this", true},
    {"two warps store to one byte", 64, R"(
        and.b32 %r0, %i, 31;
        add.u32 %r0, %r0, %r19;
        st.shared.u8 [%r0], %i; // BUG)",
     "this store and the store of warp 0", true},
    {"cp.async into what others still read", 64, R"(
        shl.b32 %r0, %i, 4;
        add.u32 %r1, %r0, %r19;
        xor.b32 %r0, %r0, 512;
        add.u32 %r2, %r0, %r19;
        st.shared.u32 [%r1], %i;
        bar.sync 0;
        ld.shared.u32 %d, [%r2];
        nanosleep.u32 10;
        cp.async.cg.shared.global [%r1], [%l19], 16; // BUG
        cp.async.wait_all;)",
     "race at", true},
    {"a barrier for the wrong warps", 64, R"(
        bar.sync 1, 64;
        setp.lt.u32 %p0, %i, 32;
        @%p0 bra $consumer;
        st.shared.u32 [%r19+4], %i;
        bar.arrive 2, 64;
        bra $end;
        $consumer:
        bar.sync 3, 64; // BUG
        ld.shared.u32 %d, [%r19+4];
        $end: )",
     "deadlock: no warp of the block can continue; warp 0 waits here"},
    {"a barrier with another number of threads", 96, R"(
        setp.lt.u32 %p0, %i, 64;
        selp.b32 %r0, 96, 64, %p0;
        bar.sync 1, %r0; // BUG)",
     "barrier 1 is used for 64 threads here and for 96 by warps that wait there"},
    {"a barrier in a divergent branch", 64, R"(
        and.b32 %r0, %i, 1;
        setp.eq.u32 %p0, %r0, 0;
        @%p0 bra $even;
        bar.sync 0; // BUG
        $even: )",
     "bar.sync is executed by lanes 0xaaaaaaaa only; lanes 0x55555555, which must take part, are elsewhere"},
    {"an mma without all lanes", 32, R"(
        setp.eq.u32 %p0, %i, 7;
        @%p0 bra $skip;
        mov.u32 %r0, 0;
        mma.sync.aligned.m8n8k16.row.col.s32.u8.u8.s32 {%r1, %r2}, {%r0}, {%r0}, {%r0, %r0}; // BUG
        $skip: )",
     "lanes 0x00000080, which must take part"},
    {"a shuffle whose mask names a lane that does not come", 32, R"(
        setp.lt.u32 %p0, %i, 16;
        @%p0 bra $low;
        bra $end;
        $low:
        shfl.sync.down.b32 %d, %i, 1, 31, -1; // BUG
        $end:
        barrier.sync 0;)",
     "lanes 0xffff0000, which must take part"},
    {"a mask without the lane that executes", 32, R"(
        bar.warp.sync 0xff; // BUG)",
     "its mask 0x000000ff does not name all of them"},
    {"a flag in shared memory that is never set", 64, R"(
        st.volatile.shared.u32 [%r19], 0;
        bar.sync 0;
        setp.ge.u32 %p0, %i, 32;
        @%p0 bra $end;
        $spin:
        ld.volatile.shared.u32 %r0, [%r19]; // BUG
        setp.eq.u32 %p1, %r0, 0;
        @%p1 bra $spin;
        $end: )",
     "deadlock"},
    {"a flag in global memory that is never set", 32, R"(
        $spin:
        ld.acquire.gpu.global.u32 %r0, [%l19]; // BUG
        setp.eq.u32 %p1, %r0, 0;
        @%p1 bra $spin;)",
     "deadlock"},
    {"a trap", 32, R"(
        setp.eq.u32 %p0, %i, 9;
        @%p0 trap; // BUG)",
     "lane 9, line"},
};

TEST_CASE("planted bugs are reported with their line, in every order of the warps", "[machine][checks]") {
  for (const Bug& bug : bugs) {
    const Module module = planted(bug.body);
    for (const std::uint64_t schedule : {0u, 7u}) {
      INFO(bug.name << ", schedule " << schedule);
      const Report report = report_of(module, bug.threads, all_checks, schedule);
      CAPTURE(report.text);
      // Of a race either access may come last: the report names both.
      CHECK((report.line == bug_line(module) || (bug.races && contains(report.text, bug_place(module)))));
      if (schedule == 0) CHECK_THAT(report.text, ContainsSubstring(bug.reason));
      if (bug.races) {
        CHECK(report_of(module, bug.threads, {}, schedule).text == "nothing");
      }
    }
    if (!bug.races) {
      CHECK(report_of(module, bug.threads, {}).line == bug_line(module));
    }
  }
}

TEST_CASE("a report names kernel, block, warp, lane, line and the source line", "[machine][checks]") {
  const Module module = word_kernel(R"(
    .loc 1 42 7
    ld.global.u32 %d, [%out+4096]; // BUG
)",
                                    "sm_90", ".file 1 \"saxpy.cu\"");
  const std::string expected = "kernel 'k', block (0, 0, 0), warp 0, lane 0, line " + std::to_string(bug_line(module)) +
                               " (ld.global.u32), saxpy.cu:42, address 0x7f0000001000: ";
  CHECK(report_of(module, 64, {}).text.starts_with(expected));
}

struct Right {
  const char* name;
  std::uint32_t threads;
  const char* body;
};

const Right right_kernels[] = {
    {"double buffering with cp.async and barriers", 64, R"(
        mov.u32 %r5, 0;
        shl.b32 %r0, %i, 4;
        xor.b32 %r9, %r0, 512;
        cvt.u64.u32 %l0, %r0;
        add.s64 %l1, %l19, %l0;
        add.u32 %r1, %r0, %r19;
        cp.async.cg.shared.global [%r1], [%l1], 16;
        cp.async.commit_group;
        $loop:
        add.u32 %r5, %r5, 1;
        and.b32 %r6, %r5, 1;
        shl.b32 %r6, %r6, 10;
        add.u32 %r7, %r1, %r6;
        cp.async.cg.shared.global [%r7], [%l1], 16;
        cp.async.commit_group;
        cp.async.wait_group 1;
        bar.sync 0;
        xor.b32 %r6, %r6, 1024;
        add.u32 %r7, %r9, %r6;
        add.u32 %r7, %r7, %r19;
        ld.shared.u32 %r8, [%r7];
        add.u32 %d, %d, %r8;
        bar.sync 0;
        setp.lt.u32 %p0, %r5, 6;
        @%p0 bra $loop;)"},
    {"each warp reads what it copied itself", 64, R"(
        shl.b32 %r0, %i, 4;
        add.u32 %r1, %r0, %r19;
        cp.async.cg.shared.global [%r1], [%l19], 16;
        cp.async.wait_all;
        bar.warp.sync -1;
        xor.b32 %r0, %r0, 16;
        add.u32 %r1, %r0, %r19;
        ld.shared.u32 %d, [%r1];)"},
    {"uninitialised halves are moved, not used", 64, R"(
        shl.b32 %r0, %i, 4;
        add.u32 %r1, %r0, %r19;
        st.shared.u32 [%r1], %i;
        bar.sync 0;
        ld.shared.v4.u32 {%r2, %r3, %r4, %r5}, [%r1];
        add.u32 %r3, %r3, 1;
        st.shared.v4.u32 [%r1+1024], {%r2, %r3, %r4, %r5};
        bar.sync 0;
        ld.shared.u32 %d, [%r1+1024];)"},
    {"selp drops an uninitialised value", 32, R"(
        setp.lt.u32 %p0, %i, 16;
        shl.b32 %r0, %i, 2;
        add.u32 %r1, %r0, %r19;
        @%p0 st.shared.u32 [%r1], %i;
        ld.shared.u32 %r2, [%r1];
        selp.u32 %d, %r2, 0, %p0;)"},
    {"rows of the product from uninitialised values are not stored", 32, R"(
        shl.b32 %r0, %i, 4;
        add.u32 %r0, %r0, %r19;
        setp.ne.u32 %p0, %i, 3;
        mov.u32 %r1, 0;
        @%p0 st.shared.v4.b32 [%r0], {%r1, %r1, %r1, %r1};
        bar.warp.sync -1;
        ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r2, %r3, %r4, %r5}, [%r0];
        mov.f32 %f4, 0f00000000;
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%r2, %r3, %r4, %r5}, {%r1, %r1}, {%f4, %f4, %f4, %f4};
        mov.b32 %d, %f2;
        shr.u32 %r6, %i, 2;
        setp.ne.u32 %p1, %r6, 3;
        @%p1 st.global.f32 [%out], %f0;)"},
    {"producer and consumer with named barriers", 64, R"(
        setp.lt.u32 %p0, %i, 32;
        and.b32 %r0, %i, 31;
        shl.b32 %r0, %r0, 2;
        add.u32 %r1, %r0, %r19;
        @%p0 bra $consumer;
        st.shared.u32 [%r1], %i;
        bar.arrive 1, 64;
        bar.sync 2, 64;
        st.shared.u32 [%r1], 5;
        bra $end;
        $consumer:
        bar.sync 1, 64;
        ld.shared.u32 %d, [%r1];
        bar.arrive 2, 64;
        $end: )"},
    {"a flag in shared memory", 64, R"(
        st.volatile.shared.u32 [%r19], 0;
        bar.sync 0;
        setp.lt.u32 %p0, %i, 32;
        @%p0 bra $wait;
        st.shared.u32 [%r19+4], 17;
        membar.cta;
        st.volatile.shared.u32 [%r19], 1;
        bra $end;
        $wait:
        ld.volatile.shared.u32 %r0, [%r19];
        setp.eq.u32 %p1, %r0, 0;
        @%p1 bra $wait;
        ld.shared.u32 %d, [%r19+4];
        $end: )"},
    {"atomic operations of all warps, and a barrier behind them", 96, R"(
        setp.eq.u32 %p0, %i, 0;
        @%p0 st.shared.u32 [%r19], 0;
        bar.sync 0;
        atom.shared.add.u32 %r1, [%r19], 1;
        bar.sync 0;
        ld.shared.u32 %d, [%r19];)"},
    {"a long wait that ends", 64, R"(
        st.volatile.shared.u32 [%r19], 0;
        bar.sync 0;
        setp.lt.u32 %p0, %i, 32;
        @%p0 bra $wait;
        mov.u32 %r2, 0;
        $work:
        add.u32 %r2, %r2, 1;
        setp.lt.u32 %p2, %r2, 500000;
        @%p2 bra $work;
        st.volatile.shared.u32 [%r19], 1;
        bra $end;
        $wait:
        ld.volatile.shared.u32 %r0, [%r19];
        setp.eq.u32 %p1, %r0, 0;
        @%p1 bra $wait;
        $end: )"},
};

TEST_CASE("right kernels get no report with all checks on, in every order of the warps", "[machine][checks]") {
  for (const Right& kernel : right_kernels)
    for (const std::uint64_t schedule : {0u, 1u, 2u}) {
      INFO(kernel.name << ", schedule " << schedule);
      CHECK(report_of(planted(kernel.body), kernel.threads, all_checks, schedule).text == "nothing");
    }
}

}  // namespace
}  // namespace warpmat::planted_bugs_test
