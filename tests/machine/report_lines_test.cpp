// What reports say of places: the source lines of both statements of a race with the calls that were inlined, and deadlocks by what is
// waited for.

#include <warpmat/machine/internals.h>
#include <warpmat/ptx/syntax/module.h>

#include "machine/kernel.h"
#include "test.h"

namespace warpmat::report_lines_test {

namespace {

constexpr const char* files = R"(
.file 1 "/src/gemm.cu"
.file 2 "/src/hopper.cuh"
.section .debug_str
{
$L__info_string0:
.b8 95,90,53,115,116,111,114,101,80,102,0
}
)";

}  // namespace

TEST_CASE("both sides of a report have their source lines, with the calls that were inlined", "[machine][checks]") {
  const std::string body = R"(
    .shared .align 4 .b32 tile[64];
    mov.u32 %r0, tile;
    shl.b32 %r1, %i, 2;
    add.u32 %r1, %r0, %r1;
    .loc 1 20 3
    .loc 2 145 3, function_name $L__info_string0, inlined_at 1 20 3
    st.shared.u32 [%r1], %i;
    .loc 1 30 3
    .loc 2 90 3, function_name $L__info_string0, inlined_at 1 30 3
    ld.shared.u32 %d, [%r0+128];)";
  const std::string report = message_of([&] {
    words_of(Module(std::string(*syntax_of(word_kernel(body)).text) + files), {1}, {64},
             {.checks = {.uninitialised = false, .races = true}});
  });
  CAPTURE(report);
  CHECK_THAT(report, ContainsSubstring("race at "));
  CHECK_THAT(report, ContainsSubstring("(ld.shared.u32), /src/hopper.cuh:90 in store, inlined at /src/gemm.cu:30") ||
                         ContainsSubstring("(ld.shared.u32; /src/hopper.cuh:90 in store, inlined at /src/gemm.cu:30)"));
  CHECK_THAT(report, ContainsSubstring("(st.shared.u32; /src/hopper.cuh:145 in store, inlined at /src/gemm.cu:20)") ||
                         ContainsSubstring("(st.shared.u32), /src/hopper.cuh:145 in store, inlined at /src/gemm.cu:20"));
}

TEST_CASE("a deadlock has a line for the warps that wait alike", "[machine][deadlock]") {
  const std::string report = message_of([&] {
    words_of(word_kernel(R"(
    .shared .align 8 .b64 full[2];
    mov.u32 %r0, full;
    setp.ne.u32 %p0, %i, 0;
    @%p0 bra MADE;
    mbarrier.init.shared.b64 [%r0], 1;
    mbarrier.init.shared.b64 [%r0+8], 2;
    mbarrier.arrive.shared.b64 %l0, [%r0+8];
    mbarrier.arrive.shared.b64 %l0, [%r0+8];
    mbarrier.arrive.shared.b64 %l0, [%r0+8];
    MADE:
    bar.sync 0;
    setp.lt.u32 %p1, %i, 128;
    @%p1 bra WAIT;
    bar.sync 1;
    WAIT:
    mbarrier.try_wait.parity.shared.b64 %p2, [%r0+8], 1;
    @!%p2 bra WAIT;)"),
             {1}, {256});
  });
  CAPTURE(report);
  CHECK_THAT(report, ContainsSubstring(
                         "deadlock: no warp of the block can continue; warps 0 to 3 wait here: mbarrier 'full'[1] at 0x408: its phase of "
                         "parity 1 misses 1 of 2 arrivals; 1 phase ended before: line "));
  CHECK_THAT(report, ContainsSubstring("(mbarrier.try_wait.parity.shared.b64); initialised here by warp 0 with a count of 2: line "));
  CHECK_THAT(report,
             ContainsSubstring("(mbarrier.arrive.shared.b64); warps 4 to 7 wait here: barrier 1 has 128 threads, and needs all that "
                               "have not exited: line "));
}

TEST_CASE("a phase that never ends says what its mbarrier lacks", "[machine][deadlock]") {
  struct Lacking {
    const char *count, *before, *parity, *word;
  };
  for (const auto& [count, before, parity, word] : {
           Lacking{"2", "mbarrier.arrive.shared.b64 %l0, [%r0];", "0", "count"},
           Lacking{"1", "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r0], 16;", "0", "mbarrier.arrive.expect_tx"},
           Lacking{"1", "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r0], 16;", "0", "bytes"},
           Lacking{"1", "", "0", "parity 1"},
           Lacking{"1", "mbarrier.arrive.shared.b64 %l0, [%r0];", "1", "phases"},
       }) {
    INFO(before);
    const std::string body = fmt::format(R"(
    .shared .align 8 .b64 full;
    mov.u32 %r0, full;
    mbarrier.init.shared.b64 [%r0], {};
    {}
    WAIT:
    mbarrier.try_wait.parity.shared.b64 %p2, [%r0], {};
    @!%p2 bra WAIT;)",
                                         count, before, parity);
    Trap::Reason reason{""};
    try {
      words_of(word_kernel(body, "sm_90"), {1}, {1});
    } catch (const Trap& trap) {
      reason = trap.parts;
    }
    CHECK_THAT(reason.help, ContainsSubstring(word));
    const auto initialised =
        std::ranges::find_if(reason.notes, [](const Trap::Note& note) { return note.text.starts_with("initialised"); });
    REQUIRE(initialised != reason.notes.end());
    CHECK_THAT(initialised->text, ContainsSubstring(fmt::format("a count of {}", count)));
    CHECK(initialised->at.line != 0);
  }
}

TEST_CASE("wrong use of an mbarrier names it and who came before", "[machine][mbarrier]") {
  const std::string report = message_of([&] {
    words_of(word_kernel(R"(
    .shared .align 8 .b8 ring[64];
    mov.u32 %r0, ring;
    mbarrier.init.shared.b64 [%r0+16], 3;
    mbarrier.init.shared.b64 [%r0+24], 2;
    mbarrier.arrive.shared.b64 %l0, [%r0+24];
    mbarrier.arrive.shared.b64 %l0, [%r0+24], 2;)"),
             {1}, {1});
  });
  CAPTURE(report);
  CHECK_THAT(
      report,
      ContainsSubstring(
          "2 arrivals at an mbarrier whose phase misses 1 of 2; mbarrier 1 of 2 in 'ring', 24 bytes into it, at "
          "0x418: its phase of parity 0 misses 1 of 2 arrivals; no phase has ended; initialised here by warp 0 with a count of 2: line "));
}

}  // namespace warpmat::report_lines_test
