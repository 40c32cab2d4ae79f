// Kernels with one planted bug each in their tensor memory, at the line that says BUG: the report names that line, with two orders of the
// warps. Their right twins get no report.

#include "machine/planted.h"
#include "machine/tensor_kernel.h"
#include "test.h"

namespace warpmat::planted_tensor_test {
namespace {

/// Four warps. Words in capitals stand for statements; ALLOCATE to FREE frame the kernels that have 32 columns and operands of m128n16k16.
std::string expanded(std::string body) {
  replace_all(body, "SETUP;",
              tensor_kernel::allocate(32) + tensor_kernel::operands("0x3c003c00", "0x08040010") +
                  "cvt.u64.u32 %l4, %r1; shr.u64 %l4, %l4, 4; or.b64 %l4, %l4, 0x0000400800000000;");
  replace_all(body, "FREE;", tensor_kernel::free(32));
  replace_all(body, "DEALLOC ", "tcgen05.dealloc.cta_group::1.sync.aligned.b32 ");
  replace_all(body, "ALLOC ", "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 ");
  replace_all(body, "PRODUCT;", "@%p1 tcgen05.mma.cta_group::1.kind::f16 [%r10], %l1, %l2, %r13, %p3;");
  replace_all(body, "ADD;", "@%p1 tcgen05.mma.cta_group::1.kind::f16 [%r10], %l1, %l2, %r13, 1;");
  replace_all(body, "COPY;", "@%p1 tcgen05.cp.cta_group::1.128x128b [%r10], %l4;");
  replace_all(body, "COMMIT;", "@%p1 tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [bar];");
  replace_all(body, "WAIT;",
              "{ .reg .pred done; AGAIN: mbarrier.try_wait.parity.shared.b64 done, [bar], 0; @!done bra AGAIN; }"
              "tcgen05.fence::after_thread_sync;");
  replace_all(body, "LOAD;", "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%d}, [%r12+3];");
  replace_all(body, "STORE;", "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r12+3], {%r4};");
  replace_all(body, "LOADED;", "tcgen05.wait::ld.sync.aligned;");
  replace_all(body, "STORED;", "tcgen05.wait::st.sync.aligned;");
  replace_all(body, "BARRIER;", "tcgen05.fence::before_thread_sync; bar.sync 0; tcgen05.fence::after_thread_sync;");
  replace_all(body, "WARP_0;", "mov.u32 %i, %tid.x; setp.lt.u32 %p0, %i, 32; @!%p0 bra END;");
  return body;
}

Module planted(const std::string& body) {
  return word_kernel(expanded(body), "sm_100a", tensor_kernel::variables);
}

std::string report_of(const Module& module, std::uint64_t schedule) {
  return warpmat::report_of(module, {{1}, {128}}, {.schedule = schedule, .most_operations = 5'000'000}).text;
}

struct Bug {
  const char* name;
  const char* body;
  const char* reason;  ///< part of the report
  const char* from;    ///< the right twin has `to` instead of it
  const char* to;
};

constexpr const char* unwaited = "no thread has waited for the mbarrier of a tcgen05.commit behind it";

const Bug bugs[] = {
    {"D is read before anybody waits for the commit", "SETUP; PRODUCT; COMMIT; BARRIER;\nLOAD; // BUG\nLOADED; FREE;", unwaited, "COMMIT;",
     "COMMIT; WAIT;"},
    {"D is read, and no commit follows the product", "SETUP; PRODUCT; BARRIER;\nLOAD; // BUG\nLOADED; FREE;", unwaited, "PRODUCT;",
     "PRODUCT; COMMIT; WAIT;"},
    {"a second product behind the commit still writes D", "SETUP; PRODUCT; COMMIT;\nADD; // BUG\nWAIT; LOAD; LOADED; FREE;", unwaited,
     "COMMIT;\nADD; // BUG\n", "ADD; COMMIT;"},
    {"D is overwritten by a store before the product is over", "SETUP; PRODUCT; COMMIT; BARRIER;\nSTORE; // BUG\nSTORED; FREE;", unwaited,
     "BARRIER;", "WAIT;"},
    {"a copy's columns are read before its commit was waited for", "SETUP; COPY; COMMIT; BARRIER;\nLOAD; // BUG\nLOADED; FREE;", unwaited,
     "BARRIER;", "WAIT;"},
    {"the columns are freed while the product writes them",
     "SETUP; PRODUCT; COMMIT; bar.sync 0; @!%p0 bra END;\nDEALLOC %r10, 32; // BUG\nEND:", unwaited, "COMMIT;", "COMMIT; WAIT;"},
    {"A changes while the product reads it",
     "SETUP;\nPRODUCT; // BUG\nCOMMIT; bar.sync 0; st.shared.b32 [%r1], %r14; WAIT; LOAD; LOADED; FREE;",
     "memory that operand a of the product reads has changed", "bar.sync 0; st.shared.b32 [%r1], %r14; WAIT;",
     "WAIT; bar.sync 0; st.shared.b32 [%r1], %r14;"},
    {"B changes while the product reads it",
     "SETUP;\nPRODUCT; // BUG\nCOMMIT; bar.sync 0; st.shared.b32 [%r1+4096], %r14; WAIT; LOAD; LOADED; FREE;",
     "memory that operand b of the product reads has changed", "bar.sync 0; st.shared.b32 [%r1+4096], %r14; WAIT;",
     "WAIT; bar.sync 0; st.shared.b32 [%r1+4096], %r14;"},
    {"the source of a copy changes while it reads it",
     "SETUP;\nCOPY; // BUG\nCOMMIT; bar.sync 0; st.shared.b32 [%r1], %r14; WAIT; LOAD; LOADED; FREE;",
     "memory that the copy reads has changed", "bar.sync 0; st.shared.b32 [%r1], %r14; WAIT;",
     "WAIT; bar.sync 0; st.shared.b32 [%r1], %r14;"},
    {"a product adds to what a store has not written yet", "SETUP; STORE; BARRIER;\nADD; // BUG\nCOMMIT; WAIT; FREE;",
     "tcgen05.wait::st has not followed it", "STORE;", "STORE; STORED;"},
    {"the columns are freed before a store is over", "SETUP; STORE; bar.sync 0; @!%p0 bra END;\nDEALLOC %r10, 32; // BUG\nEND:",
     "tcgen05.wait::st has not followed it", "STORE;", "STORE; STORED;"},
    {"freed columns are read", "SETUP; bar.sync 0; @!%p0 bra FREED; DEALLOC %r10, 32; FREED: bar.sync 0;\nLOAD; // BUG\nLOADED;",
     "no column is allocated", "bar.sync 0; @!%p0 bra FREED; DEALLOC %r10, 32; FREED: bar.sync 0;\nLOAD; // BUG\nLOADED;",
     "LOAD; LOADED; bar.sync 0; @!%p0 bra FREED; DEALLOC %r10, 32; FREED:"},
    {"freed columns get a product",
     "SETUP; bar.sync 0; @!%p0 bra FREED; DEALLOC %r10, 32; FREED: bar.sync 0;\nPRODUCT; // BUG\nCOMMIT; WAIT;", "no column is allocated",
     "bar.sync 0; @!%p0 bra FREED; DEALLOC %r10, 32; FREED: bar.sync 0;\nPRODUCT; // BUG\nCOMMIT; WAIT;",
     "PRODUCT; COMMIT; WAIT; bar.sync 0; @!%p0 bra FREED; DEALLOC %r10, 32; FREED:"},
    {"a product writes behind the allocation",
     "SETUP; add.u32 %r10, %r10, 24;\nPRODUCT; // BUG\nCOMMIT; WAIT; sub.u32 %r10, %r10, 24; FREE;", "D takes 16 columns from column 24 on",
     "%r10, 24;\nPRODUCT; // BUG\nCOMMIT; WAIT; sub.u32 %r10, %r10, 24;", "%r10, 16; PRODUCT; COMMIT; WAIT; sub.u32 %r10, %r10, 16;"},
    {"two warps wait for each other's columns",
     "mov.u32 %i, %tid.x; setp.ge.u32 %p1, %i, 64; @%p1 bra END; setp.ge.u32 %p2, %i, 32; mov.u32 %r3, where; mov.u32 %r5, other; "
     "selp.b32 %r3, %r5, %r3, %p2; ALLOC [%r3], 256; bar.sync 1, 64;\nALLOC [%r3], 256; // BUG\nld.shared.u32 %r4, [%r3]; DEALLOC %r4, "
     "256; END:",
     "deadlock", "bar.sync 1, 64;\nALLOC [%r3], 256; // BUG\n", ""},
    {"a warp waits for columns that it has itself",
     "WARP_0; ALLOC [where], 512;\nALLOC [other], 32; // BUG\nEND:", "tensor memory has 0 free columns",
     "ALLOC [where], 512;\nALLOC [other], 32; // BUG\n", "ALLOC [where], 512; ld.shared.u32 %r1, [where]; DEALLOC %r1, 512;"},
    {"columns are asked for after the permit was given up",
     "WARP_0; tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\nALLOC [where], 32; // BUG\nEND:", "has given up allocating",
     "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\nALLOC [where], 32; // BUG\n",
     "ALLOC [where], 32; tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned; ld.shared.u32 %r1, [where]; DEALLOC %r1, 32;"},
    {"allocations grow", "WARP_0; ALLOC [where], 32;\nALLOC [other], 64; // BUG\nEND:", "must not grow",
     "ALLOC [where], 32;\nALLOC [other], 64; // BUG\n",
     "ALLOC [where], 64; ALLOC [other], 32; ld.shared.u32 %r1, [where]; ld.shared.u32 %r2, [other]; DEALLOC %r1, 64; DEALLOC %r2, 32;"},
    {"columns are never freed", "WARP_0;\nALLOC [where], 32; // BUG\nEND:", "without tcgen05.dealloc", "// BUG\n",
     "\nld.shared.u32 %r1, [where]; DEALLOC %r1, 32;"},
    {"half of an allocation is freed", "WARP_0; ALLOC [where], 64; ld.shared.u32 %r1, [where];\nDEALLOC %r1, 32; // BUG\nEND:",
     "are none that tcgen05.alloc has given", "DEALLOC %r1, 32; // BUG", "DEALLOC %r1, 64;"},
    {"a warp reads another warp's lanes", "SETUP;\ntcgen05.ld.sync.aligned.32x32b.x1.b32 {%d}, [%r10+2097152]; // BUG\nLOADED; FREE;",
     "reaches lanes", "[%r10+2097152]; // BUG", "[%r12];"},
    {"the commit's mbarrier was never made",
     "SETUP; PRODUCT;\n@%p1 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r1+8192]; // BUG\nCOMMIT; WAIT; FREE;",
     "there is no mbarrier", "\n@%p1 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r1+8192]; // BUG\n", ""},
    {"the descriptor of B names memory behind the block's", "SETUP; or.b64 %l2, %l2, 0x3fff;\nPRODUCT; // BUG\nCOMMIT; WAIT; FREE;",
     "operand b names leaves shared memory", "or.b64 %l2, %l2, 0x3fff;\nPRODUCT; // BUG\n", "PRODUCT;"},
    {"a bit of the instruction descriptor that must be 0", "SETUP; mov.u32 %r13, 0x08040050;\nPRODUCT; // BUG\nCOMMIT; WAIT; FREE;",
     "which is reserved", "0x08040050;\nPRODUCT; // BUG\n", "0x08040010; PRODUCT;"},
    {"half of a warp is gone at an aligned load",
     "SETUP; PRODUCT; COMMIT; WAIT; bar.sync 0; and.b32 %r8, %i, 16; setp.ne.u32 %p5, %r8, 0; @%p5 exit;\nLOAD; // BUG\nLOADED; FREE;",
     "is for whole warps", "@%p5 exit;\nLOAD; // BUG\n", "LOAD;"},
};

TEST_CASE("planted bugs of tensor memory are reported with their line", "[machine][tcgen05][planted]") {
  for (const Bug& bug : bugs)
    for (const std::uint64_t schedule : {0u, 5u}) {
      INFO(bug.name << ", schedule " << schedule);
      const Module module = planted(bug.body);
      const std::string report = report_of(module, schedule);
      CHECK_THAT(report, ContainsSubstring(bug_place(module)) && ContainsSubstring(bug.reason));
    }
}

TEST_CASE("their right twins get no report of tensor memory", "[machine][tcgen05][planted]") {
  for (const Bug& bug : bugs)
    for (const std::uint64_t schedule : {0u, 5u}) {
      INFO(bug.name << ", schedule " << schedule);
      CHECK(report_of(planted(twin_of(bug.body, bug.from, bug.to)), schedule) == "nothing");
    }
}

TEST_CASE("a missing tcgen05.fence, or wait between ld and st, is a warning that names the statement", "[machine][tcgen05][planted]") {
  struct Missing {
    const char* body;
    const char* warning;  ///< part of it; empty: none
  };
  constexpr const char *behind = "no tcgen05.fence::before_thread_sync stands behind the earlier access",
                       *between = "no tcgen05.fence::after_thread_sync stands between";
  const std::string unfenced_wait = "{ .reg .pred done; AGAIN: mbarrier.try_wait.parity.shared.b64 done, [bar], 0; @!done bra AGAIN; }";
  for (const auto& [body, warning] : {
           Missing{"SETUP; PRODUCT; COMMIT; WAIT; LOAD; LOADED; FREE;", ""},
           Missing{"SETUP; PRODUCT; COMMIT; UNFENCED_WAIT;\nLOAD; // BUG\nLOADED; FREE;", between},
           Missing{"SETUP; LOAD; LOADED; BARRIER; PRODUCT; COMMIT; WAIT; FREE;", ""},
           Missing{"SETUP; LOAD; LOADED; bar.sync 0; tcgen05.fence::after_thread_sync;\nPRODUCT; // BUG\nCOMMIT; WAIT; FREE;", behind},
           Missing{"SETUP; LOAD; LOADED; tcgen05.fence::before_thread_sync; bar.sync 0;\nPRODUCT; // BUG\nCOMMIT; WAIT; FREE;", between},
           Missing{"SETUP; STORE; STORED; BARRIER; ADD; COMMIT; WAIT; LOAD; LOADED; FREE;", ""},
           Missing{"SETUP; STORE; STORED; bar.sync 0;\nADD; // BUG\nCOMMIT; WAIT; LOAD; LOADED; FREE;", behind},
           Missing{"SETUP; STORE; STORED; LOAD; LOADED; FREE;", ""},
           Missing{"SETUP; LOAD;\nSTORE; // BUG\nLOADED; STORED; FREE;", "tcgen05.wait::ld has not followed it"},
           Missing{"SETUP; LOAD; LOADED; STORE; STORED; FREE;", ""},
           Missing{"SETUP; LOAD; BARRIER;\nPRODUCT; // BUG\nLOADED; COMMIT; WAIT; FREE;", "tcgen05.wait::ld has not followed it"},
           Missing{"SETUP; LOAD; BARRIER;\nCOPY; // BUG\nLOADED; COMMIT; WAIT; FREE;", "tcgen05.wait::ld has not followed it"},
           Missing{"SETUP; LOAD;\nadd.u32 %d, %d, 1; // BUG\nLOADED; FREE;", "used before tcgen05.wait::ld"},
           Missing{"SETUP; LOAD; LOADED; add.u32 %d, %d, 1; FREE;", ""},
           Missing{"SETUP; LOAD; mov.b32 %r9, %d;\nadd.u32 %r9, %r9, 1; // BUG\nLOADED; FREE;", "used before tcgen05.wait::ld"},
           Missing{"SETUP; LOAD; mov.b32 %r9, %d; LOADED; add.u32 %r9, %r9, 1; FREE;", ""},
           Missing{"SETUP;\nLOAD; // BUG\nBARRIER; FREE; mov.u32 %d, 0;", "tcgen05.dealloc has freed"},
           Missing{"SETUP; STORE;\nLOAD; // BUG\nLOADED; STORED; FREE;", "tcgen05.wait::st has not followed it"},
           // A commit tracks what was issued before it: of the product behind the first commit the second one tells.
           Missing{"SETUP; @!%p0 bra LAST; PRODUCT; COMMIT; ADD; COMMIT; WAIT; WAIT_AGAIN;\nLOAD; // BUG\nLOADED; LAST: FREE;", between},
           Missing{"SETUP; @!%p0 bra LAST; PRODUCT; COMMIT; ADD; COMMIT; WAIT; WAIT_AGAIN; tcgen05.fence::after_thread_sync; LOAD; LOADED; "
                   "LAST: FREE;",
                   ""},
       }) {
    std::string text = body;
    replace_all(text, "UNFENCED_WAIT;", unfenced_wait);
    replace_all(text, "WAIT_AGAIN;", "{ .reg .pred done; AGAIN: mbarrier.try_wait.parity.shared.b64 done, [bar], 1; @!done bra AGAIN; }");
    INFO(text);
    const Module module = planted(text);
    const LaunchResult result = warned_of(module, 128);
    REQUIRE(result.warnings.size() == (*warning == 0 ? 0 : 1));
    if (result.warnings.empty()) continue;
    CHECK_THAT(result.warnings.front(), ContainsSubstring(warning) && ContainsSubstring(bug_place(module)));
  }
}

TEST_CASE("a load of what another warp has stored without tcgen05.wait::st has the stored word, and a warning",
          "[machine][tcgen05][planted]") {
  constexpr const char* body =
      "SETUP; shr.u32 %r11, %i, 5; and.b32 %r11, %r11, 3; shl.b32 %r11, %r11, 21; add.u32 %r12, %r10, %r11; setp.lt.u32 %p5, %i, 128;"
      "add.u32 %r4, %i, 7; @!%p5 bra STORES_ARE_DONE; STORE; MAYBE_STORED; STORES_ARE_DONE: BARRIER; @%p5 bra LOADS_ARE_DONE;\n"
      "LOAD; // BUG\nLOADED; LOADS_ARE_DONE: FREE;";
  for (const bool waits : {false, true})
    for (const std::uint64_t schedule : {0u, 5u}) {
      std::string text = body;
      text.replace(text.find("MAYBE_STORED;"), 13, waits ? "STORED;" : "");
      const Module module = planted(text);
      DeviceMemory memory;
      const std::uint64_t out = memory.allocate(4 * 256, "out");
      const LaunchResult result = launch(Kernel(module, "k"), {{1}, {256}}, memory, {out}, {.schedule = schedule});
      const std::vector<std::uint32_t> words = memory.read<std::uint32_t>(out, 256);
      for (std::uint32_t thread = 128; thread < 256; ++thread) CHECK(words[thread] == thread - 128 + 7);
      REQUIRE(result.warnings.size() == (waits ? 0 : 1));
      if (waits) continue;
      CHECK_THAT(result.warnings.front(),
                 ContainsSubstring("tcgen05.wait::st has not followed it") && ContainsSubstring(bug_place(module)));
    }
}

}  // namespace
}  // namespace warpmat::planted_tensor_test
