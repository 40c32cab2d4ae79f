// Kernels with one planted bug each in their bulk copies, mbarriers or clusters, at the line that says BUG: the report names that line,
// with two orders of the warps. Their right twins get no report.

#include "machine/planted.h"
#include "test.h"

namespace warpmat::planted_copies_test {
namespace {

/// Two warps. %r19 is `tile` in shared memory, %l19 `in` in global memory, 4096 bytes each; %r18 and %r17 are mbarriers of one arrival
/// each, which have been initialised. %p19 holds in all threads but thread 0, %p18 in warp 1. Words in capitals stand for the common
/// statements.
Module planted(std::string body) {
  replace_all(body, "LOAD;",
              "@!%p19 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r18], 512;"
              "@!%p19 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r19], [%l19], 512, [%r18];");
  replace_all(body, "WAIT;", "{ .reg .pred done; AGAIN: mbarrier.try_wait.parity.shared::cta.b64 done, [%r18], 0; @!done bra AGAIN; }");
  replace_all(body, "FREE;", "{ .reg .pred done; AGAIN: mbarrier.try_wait.parity.shared::cta.b64 done, [%r17], 0; @!done bra AGAIN; }");
  replace_all(body, "FILL;", "st.shared.u32 [%r15], %i; fence.proxy.async; bar.sync 0;");
  replace_all(body, "STORE;",
              "@%p19 bra STORED; cp.async.bulk.global.shared::cta.bulk_group [%l19], [%r19], 256; cp.async.bulk.commit_group;");
  replace_all(body, "PLACE;", "membar.gl; bar.sync 0; shl.b32 %r0, %r16, 2; cvt.u64.u32 %l0, %r0; add.u64 %l0, %l0, %l19;");
  return word_kernel(R"(
    .shared .align 128 .b8 tile[4096];
    .shared .align 8 .b64 full, empty;
    mov.u32 %r19, tile; mov.u32 %r18, full; mov.u32 %r17, empty;
    mov.u64 %l19, in; cvta.global.u64 %l19, %l19;
    mov.u32 %r16, %tid.x; setp.ne.u32 %p19, %r16, 0; setp.ge.u32 %p18, %r16, 32;
    @%p19 bra MADE;
    mbarrier.init.shared::cta.b64 [%r18], 1;
    mbarrier.init.shared::cta.b64 [%r17], 1;
    fence.mbarrier_init.release.cluster;
    MADE: bar.sync 0;
    shl.b32 %r15, %r16, 2; add.u32 %r15, %r15, %r19;
)" + body,
                     "sm_90", ".global .align 16 .b8 in[4096];");
}

constexpr std::uint64_t enough_operations = 50'000'000;

struct Bug {
  const char* name;
  const char* body;
  const char* reason;  ///< part of the report
  std::uint32_t cluster = 1;
  const char* from = "";  ///< the right twin has `to` instead of it
  const char* to = "";
};

const Bug bugs[] = {
    {"a bulk copy's bytes are read before the wait", R"(
        LOAD;
        @!%p19 ld.shared.u32 %d, [%r19+64]; // BUG
        WAIT;)",
     "has not been waited for; address 0x440 is 64 bytes into 'tile', a shared variable of 4096 bytes; the bulk copy of warp 0: line", 1,
     "ld.shared.u32 %d, [%r19+64]", "mov.u32 %d, 0"},
    {"they are overwritten", R"(
        LOAD;
        @!%p19 st.shared.u32 [%r19+508], %i; // BUG
        WAIT;)",
     "has not been waited for", 1, "508", "512"},
    {"another copy overwrites them", R"(
        @%p19 bra DONE;
        LOAD;
        cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r19+496], [%l19], 16, [%r17]; // BUG
        DONE: ret;)",
     "store to bytes of a bulk copy, which has not been waited for; address 0x5f0 is 496 bytes into 'tile'", 1, "496", "512"},
    {"a warp reads what only another warp has waited for", R"(
        @%p18 bra OTHER;
        LOAD;
        WAIT;
        OTHER: mov.u32 %r0, 0;
        SLEEP: nanosleep.u32 100; add.u32 %r0, %r0, 1; setp.lt.u32 %p1, %r0, 64; @%p1 bra SLEEP;
        ld.shared.u32 %d, [%r15]; // BUG)",
     "128 bytes into 'tile'", 1, "OTHER:", "OTHER: WAIT;"},
    {"expect_tx announces the bytes of one of two copies", R"(
        @!%p19 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r18], 512; // BUG
        @!%p19 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r19], [%l19], 512, [%r18];
        @!%p19 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r19+512], [%l19], 512, [%r18];
        WAIT;
        ld.shared.u32 %d, [%r15];)",
     "512 bytes too few: 1024 were issued", 1, "_, [%r18], 512", "_, [%r18], 1024"},
    {"it does so behind the copies, before anything waits", R"(
        @!%p19 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r19], [%l19], 512, [%r18];
        @!%p19 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r19+512], [%l19], 16, [%r18];
        @!%p19 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r18], 512; // BUG
        bar.sync 0;
        WAIT;
        ld.shared.u32 %d, [%r15];)",
     "16 bytes too few: 528 were issued", 1, "_, [%r18], 512", "_, [%r18], 528"},
    {"nothing announces a copy", R"(
        @!%p19 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r19], [%l19], 512, [%r18]; // BUG
        @!%p19 mbarrier.arrive.shared::cta.b64 _, [%r18];
        WAIT;)",
     "no expect_tx announces the 512 bytes", 1, "mbarrier.arrive.shared::cta.b64 _, [%r18]",
     "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r18], 512"},
    {"expect_tx announces the larger one of three copies", R"(
        @!%p19 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r18], 1024; // BUG
        @!%p19 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r19], [%l19], 1024, [%r18];
        @!%p19 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r19+1024], [%l19], 256, [%r18];
        @!%p19 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r19+1280], [%l19], 256, [%r18];
        WAIT;
        ld.shared.u32 %d, [%r15+1280];)",
     "512 bytes too few: 1536 were issued", 1, "_, [%r18], 1024", "_, [%r18], 1536"},
    {"a warp arrives at an mbarrier that nothing orders behind its initialisation", R"(
        @!%p19 mbarrier.init.shared::cta.b64 [%r19+4088], 32;
        // bar.sync
        @%p18 mbarrier.arrive.shared::cta.b64 _, [%r19+4088]; // BUG)",
     "mbarrier", 1, "// bar.sync", "bar.sync 0;"},
    {"a warp waits at it", R"(
        @!%p19 mbarrier.init.shared::cta.b64 [%r19+4088], 1;
        @!%p19 mbarrier.arrive.shared::cta.b64 _, [%r19+4088];
        // bar.sync
        @%p18 mbarrier.test_wait.parity.shared::cta.b64 %p0, [%r19+4088], 0; // BUG)",
     "mbarrier", 1, "// bar.sync", "bar.sync 0;"},
    {"a stage is filled again before its readers have arrived", R"(
        @%p18 bra READER;
        @%p19 bra DONE;
        LOAD;
        WAIT;
        mov.u32 %r0, 0;
        SLEEP: nanosleep.u32 100; add.u32 %r0, %r0, 1; setp.lt.u32 %p1, %r0, 64; @%p1 bra SLEEP;
        cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r19], [%l19], 512, [%r18]; // BUG
        DONE: ret;
        READER: WAIT;
        ld.shared.u32 %d, [%r15];
        bar.warp.sync -1;
        setp.ne.u32 %p2, %r16, 32;
        @!%p2 mbarrier.arrive.shared::cta.b64 _, [%r17];)",
     "race at 0x400: nothing orders this store and the load of warp 1; address 0x400 is 0 bytes into 'tile', a shared variable of 4096 "
     "bytes",
     1, "SLEEP: nanosleep", "FREE; SLEEP: nanosleep"},
    {"a store's source is overwritten before the wait", R"(
        FILL; STORE;
        STORED: bar.sync 0;
        st.shared.u32 [%r15], %r19; // BUG)",
     "may still read it: its group has not been waited for", 1, "STORED:", "cp.async.bulk.wait_group.read 0; STORED:"},
    {"the group that is waited for is not the copy's", R"(
        FILL; STORE;
        cp.async.bulk.wait_group.read 1;
        STORED: bar.sync 0;
        st.shared.u32 [%r15], %r19; // BUG)",
     "may still read it", 1, ".read 1", ".read 0"},
    {"a store reads what no fence has shown it", R"(
        st.shared.u32 [%r15], %i;
        bar.sync 0;
        @%p19 bra STORED;
        cp.async.bulk.global.shared::cta.bulk_group [%l19], [%r19], 256; // BUG
        STORED: ret;)",
     "no fence.proxy.async since then lets it see that", 1, "bar.sync 0", "fence.proxy.async; bar.sync 0"},
    {"bytes that never arrive", R"(
        @%p19 bra ISSUED;
        LOAD;
        mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r18], 128;
        ISSUED:
        WAIT; // BUG)",
     "mbarrier 'full' at 0x1400: its phase of parity 0 misses 0 of 1 arrivals and 128 bytes that never arrive; no phase has ended: "
     "line ",
     1, "[%r18], 128", "[%r18], 0"},
    {"unexpected bytes", R"(
        @%p19 bra ISSUED;
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r18], 256;
        cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r19], [%l19], 512, [%r18];
        ISSUED:
        WAIT; // BUG)",
     "has 256 unexpected bytes", 1, "_, [%r18], 256", "_, [%r18], 512"},
    {"no thread releases a stage", R"(
        LOAD;
        WAIT;
        FREE; // BUG)",
     "mbarrier 'empty' at 0x1408: its phase of parity 0 misses 1 of 1 arrivals", 1, "FREE;",
     "@!%p19 mbarrier.arrive.shared::cta.b64 _, [%r17]; FREE;"},
    {"half of a warp at an aligned statement", R"(
        and.b32 %r0, %r16, 1;
        setp.eq.u32 %p0, %r0, 1;
        @%p0 bra PAST;
        barrier.cluster.arrive.aligned; // BUG
        bra STAY;
        PAST: bar.warp.sync -1;
        STAY: mov.u32 %d, 1;)",
     "is executed by lanes 0x55555555 only", 1, "@%p0 bra PAST;", ""},
    {"cp.async of a later stage", R"(
        @%p18 bra READER;
        @%p19 bra DONE;
        cp.async.ca.shared.global [%r19], [%l19], 4;
        cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%r18];
        cp.async.ca.shared.global [%r19+4], [%l19], 4;
        DONE: ret;
        READER: WAIT;
        ld.shared.u32 %d, [%r19+4]; // BUG)",
     "a cp.async that has not been waited for", 1, "%d, [%r19+4]", "%d, [%r19]"},
    {"the block that a value goes to has ended", R"(
        mov.u32 %r0, %cluster_ctarank;
        setp.ne.u32 %p0, %r0, 0;
        @%p0 ret;
        mov.u32 %r1, 0;
        SLEEP: nanosleep.u32 100; add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 64; @%p1 bra SLEEP;
        @%p19 bra STAY;
        mapa.shared::cluster.u32 %r2, %r19, 1;
        mapa.shared::cluster.u32 %r3, %r18, 1;
        st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r2], %i, [%r3]; // BUG
        STAY: barrier.cluster.arrive; barrier.cluster.wait;)",
     "block 1 of the cluster has ended: its shared memory is gone", 2, "@%p0 ret;", "@%p0 bra STAY;"},
    {"a value and its mbarrier in two blocks", R"(
        mov.u32 %r4, %cluster_ctarank;
        setp.ne.or.u32 %p0, %r4, 0, %p19;
        @%p0 bra STAY;
        mapa.shared::cluster.u32 %r2, %r19, 1;
        mapa.shared::cluster.u32 %r3, %r18, 0;
        st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r2], %i, [%r3]; // BUG
        STAY: barrier.cluster.arrive; barrier.cluster.wait;)",
     "the destination lies in block 1 of the cluster, the mbarrier in block 0: both must be in the same block", 2, "%r18, 0", "%r18, 1"},
};

Report report_of(const Bug& bug, const Module& module, std::uint64_t schedule) {
  return warpmat::report_of(module, {{bug.cluster}, {64}, 0, {bug.cluster}},
                            {.schedule = schedule, .most_operations = enough_operations, .checks = {.races = true}});
}

TEST_CASE("planted bugs of copies, mbarriers and clusters are reported with their line", "[machine][planted]") {
  for (const Bug& bug : bugs)
    for (const std::uint64_t schedule : {0u, 5u}) {
      INFO(bug.name << ", schedule " << schedule);
      const Module module = planted(bug.body);
      const Report report = report_of(bug, module, schedule);
      CHECK(report.line == bug_line(module));
      CHECK_THAT(report.text, ContainsSubstring(bug.reason));
    }
}

TEST_CASE("their right twins get no report", "[machine][planted]") {
  for (const Bug& bug : bugs)
    for (const std::uint64_t schedule : {0u, 5u}) {
      INFO(bug.name << ", schedule " << schedule);
      CHECK(report_of(bug, planted(twin_of(bug.body, bug.from, bug.to)), schedule).text == "nothing");
    }
}

TEST_CASE("what cards do well although the ISA asks for more is a warning that names the statement", "[machine][planted]") {
  const std::string store = "FILL; STORE;", read = "STORED: PLACE; ";
  struct Doubtful {
    std::string body;
    const char* warning;  ///< part of it; empty: none
  };
  for (const auto& [body, warning] : {
           Doubtful{store + "STORED: bar.sync 0;", "in flight"},
           Doubtful{store + "cp.async.bulk.wait_group.read 0; STORED: bar.sync 0;", ""},
           Doubtful{store + "cp.async.bulk.wait_group.read 0;" + read + "ld.global.u32 %d, [%l0];", "wait_group.read"},
           Doubtful{store + "cp.async.bulk.wait_group.read 0; cp.async.bulk.wait_group 0;" + read + "ld.global.u32 %d, [%l0];", ""},
           Doubtful{store + "cp.async.bulk.wait_group.read 0; cp.async.bulk.wait_group 1;" + read + "ld.global.u32 %d, [%l0];",
                    "wait_group.read"},
           Doubtful{store + "cp.async.bulk.wait_group.read 0;" + read + "ld.global.u32 %d, [%l0+256];", ""},
       }) {
    INFO(body);
    const LaunchResult result = warned_of(planted(body), 64);
    REQUIRE(result.warnings.size() == (*warning == 0 ? 0 : 1));
    if (result.warnings.empty()) continue;
    CHECK(result.warned.front().kind == Trap::Kind::unordered);
    CHECK(result.warnings.front().find(warning) != std::string::npos);
  }
}

TEST_CASE("a bulk store's bytes are there behind wait_group.read and a barrier", "[machine][planted]") {
  const Module module = planted(R"(
    FILL; STORE;
    cp.async.bulk.wait_group.read 0;
    STORED: PLACE;
    ld.global.u32 %d, [%l0];)");
  const std::vector<std::uint32_t> words = words_of(module, {1}, {64});
  for (std::uint32_t i = 0; i < 64; ++i) CHECK(words[i] == i);
}

TEST_CASE("a copy that counts at an mbarrier right behind its initialisation is a warning", "[machine][planted]") {
  const auto warnings = [](const std::string& between) {
    const std::string body = R"(
    .shared .align 128 .b8 tile[512];
    .shared .align 8 .b64 bar;
    mov.u32 %r19, tile; mov.u32 %r18, bar; mov.u64 %l19, in; cvta.global.u64 %l19, %l19;
    setp.ne.u32 %p19, %i, 0;
    @!%p19 mbarrier.init.shared::cta.b64 [%r18], 1;
)" + between + R"(
    @!%p19 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r18], 512;
    @!%p19 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r19], [%l19], 512, [%r18];
    bar.sync 0;
    { .reg .pred done; AGAIN: mbarrier.try_wait.parity.shared::cta.b64 done, [%r18], 0; @!done bra AGAIN; }
)";
    return warned_of(word_kernel(body, "sm_90", ".global .align 16 .b8 in[512];"), 64).warnings;
  };
  REQUIRE(warnings("").size() == 1);
  CHECK(warnings("").front().find("mbarrier") != std::string::npos);
  for (const char* const between : {"bar.sync 0;", "fence.proxy.async;", "fence.mbarrier_init.release.cluster;", "membar.cta;"}) {
    INFO(between);
    CHECK(warnings(between).empty());
  }
}

TEST_CASE("a wait for the wrong parity is named where its copy has not come", "[machine][planted]") {
  const auto reason_of = [](std::string body) { return warpmat::report_of(planted(std::move(body)), {{1}, {64}}, {}).parts; };
  const std::string early = "{ .reg .pred done; AGAIN: mbarrier.try_wait.parity.shared::cta.b64 done, [%r18], 1; @!done bra AGAIN; }";
  const Trap::Reason wrong = reason_of("LOAD; bar.sync 0;" + early + "ld.shared.u32 %d, [%r19+64];");
  CHECK(wrong.help.find("parity 0") != std::string::npos);
  CHECK(std::ranges::any_of(wrong.notes, [](const Trap::Note& note) { return note.text.find("parity 1") != std::string::npos; }));
  // A wait before the copy is none for it.
  for (const std::string& body :
       {"LOAD; ld.shared.u32 %d, [%r19+64];" + std::string("WAIT;"), early + "LOAD; bar.sync 0; ld.shared.u32 %d, [%r19+64]; WAIT;"}) {
    const Trap::Reason missing = reason_of(body);
    REQUIRE(missing.headline.find("waited for") != std::string::npos);
    CHECK(missing.help.find("parity") == std::string::npos);
  }
}

TEST_CASE("copies with the timing of cards take effect when their warp has had its turn", "[machine][planted]") {
  const std::string overwritten = R"(
    FILL; STORE;
    STORED: bar.sync 0;
    st.shared.u32 [%r15], %r19;
    PLACE;
    ld.global.u32 %d, [%l0];)";
  const std::string announced = R"(
    @!%p19 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r18], 512;
    @!%p19 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r19], [%l19], 512, [%r18];
    @!%p19 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r19+512], [%l19], 512, [%r18];
    WAIT;
    ld.shared.u32 %d, [%r15+512];)";
  const auto outcome = [](const std::string& body, Timing timing) {
    return message_of([&] { words_of(planted(body), {1}, {64}, {.timing = timing}); });
  };
  for (const std::string& body : {overwritten, announced}) {
    CHECK(outcome(body, Timing::latest) != "nothing");
    CHECK(outcome(body, Timing::card) == "nothing");
  }
  const std::vector<std::uint32_t> words = words_of(planted(overwritten), {1}, {64}, {.timing = Timing::card});
  for (std::uint32_t i = 0; i < 64; ++i) CHECK(words[i] == i);
  // A copy that nobody waits for is not there at once.
  CHECK(outcome("LOAD; @!%p19 ld.shared.u32 %d, [%r19+64];", Timing::card) != "nothing");
}

TEST_CASE("a launch goes on without the reports that are suppressed", "[machine][planted]") {
  const Module module = planted("LOAD; @!%p19 ld.shared.u32 %d, [%r19+64]; WAIT;");
  std::vector<Trap::Kind> asked;
  const auto run = [&](bool answer) {
    return message_of([&] {
      words_of(module, {1}, {64}, {.suppresses = [&asked, answer](const Trap& report) {
                 asked.push_back(report.kind);
                 return answer;
               }});
    });
  };
  CHECK(run(false) != "nothing");
  CHECK(asked.size() == 1);
  CHECK(run(true) == "nothing");
  // Of a warning, too.
  const Module fenceless = planted(
      "st.shared.u32 [%r15], %i; bar.sync 0; "
      "@!%p19 cp.async.bulk.global.shared::cta.bulk_group [%l19], [%r19], 256; bar.sync 0;");
  const auto warnings = [&](bool answer) {
    LaunchOptions options;
    options.checks.fences = false;
    options.suppresses = [answer](const Trap&) { return answer; };
    return warned_of(fenceless, 64, options).warnings.size();
  };
  CHECK(warnings(false) == 2);
  CHECK(warnings(true) == 0);
}

}  // namespace
}  // namespace warpmat::planted_copies_test
