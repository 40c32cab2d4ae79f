// Grids whose clusters need no order: which programs these are, and that their results do not depend on how many threads run them.

#include <warpmat/ir/code.h>
#include <warpmat/machine/internals.h>

#include "machine/kernel.h"
#include "test.h"

namespace warpmat::grid_test {

TEST_CASE("clusters have an order only where an operation may need one", "[machine][grid]") {
  struct Case {
    const char* statements;
    bool ordered;
  };
  for (const Case& c : {
           Case{"st.global.u32 [%out], %i; ld.global.u32 %d, [%out]; bar.sync 0;", false},
           Case{"red.global.add.u32 [%out], 1; red.relaxed.gpu.global.add.u32 [%out], 1;", false},
           Case{"atom.global.add.u32 %r1, [%out], 1;", false},  // no statement reads the result
           Case{"atom.shared.add.u32 %d, [buffer], 1; ld.volatile.shared.u32 %r1, [buffer]; membar.cta;", false},
           Case{"atom.global.add.u32 %d, [%out], 1;", true},
           Case{"atom.add.u32 %d, [%out], 1;", true},
           Case{"red.global.add.f32 [%out], 0f3F800000;", true},
           Case{"atom.global.exch.b32 %r1, [%out], %i;", true},  // the last one stays
           Case{"atom.global.cas.b32 %r1, [%out], 0, %i;", true},
           Case{"red.global.inc.u32 [%out], 7; red.global.dec.u32 [%out], 5;", true},
           Case{"atom.shared.exch.b32 %r1, [buffer], %i;", false},
           Case{"ld.volatile.global.u32 %d, [%out];", true},
           Case{"st.relaxed.gpu.global.u32 [%out], %i;", true},
           Case{"ld.acquire.gpu.u32 %d, [%out];", true},
           Case{"ld.acquire.cta.u32 %d, [%out]; st.release.cta.global.u32 [%out], %i; ld.relaxed.cta.global.u32 %d, [%out];", false},
           Case{"membar.gl;", true},
           Case{"fence.acq_rel.gpu;", true},
           Case{"cp.async.bulk.global.shared::cta.bulk_group [%out], [buffer], 16;", false},
           Case{"cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%out], [buffer], 16;", true},
       }) {
    CAPTURE(c.statements);
    const Module module = word_kernel(".shared .align 16 .b8 buffer[16]; " + std::string(c.statements));
    CHECK(program_of(Kernel(module, "k")).orders_clusters == c.ordered);
  }
  const std::string heap = ".extern .func (.param .b64 r) malloc (.param .b64 p);";
  const Module allocates =
      word_kernel(".param .b64 bytes; .param .b64 got; st.param.b64 [bytes], 16; call.uni (got), malloc, (bytes); ld.param.b64 %l1, [got];",
                  "sm_90", heap);
  CHECK(program_of(Kernel(allocates, "k")).orders_clusters);
}

TEST_CASE("A block has at most the product of .maxntid as threads, whatever its shape", "[machine][grid]") {
  struct Case {
    const char* most;
    Dim3 fits, exceeds;
  };
  for (const Case& c :
       {Case{"64", {64}, {65}}, Case{"16, 2", {4, 4, 2}, {33}}, Case{"2, 3, 5", {30}, {31}}, Case{"1023, 1", {1023}, {1024}}}) {
    CAPTURE(c.most);
    const Module module(".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n.maxntid " + std::string(c.most) +
                        "\n{ ret; }\n");
    const Kernel kernel(module, "k");
    DeviceMemory memory;
    CHECK(message_of([&] { launch(kernel, {{1}, c.fits}, memory, {}); }) == "nothing");
    CHECK(message_of([&] {
            launch(kernel, {{1}, c.exceeds}, memory, {});
          }) == "'k' is compiled for blocks of at most " + std::to_string(c.fits.count()) + " threads (.maxntid), not " +
                    std::to_string(c.exceeds.count()));
  }
  for (const char* most : {"4294967295, 4294967295, 4294967295", "1025", "32, 1025"}) {  // more than any block has
    CAPTURE(most);
    const Module module(".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n.maxntid " + std::string(most) +
                        "\n{ ret; }\n");
    DeviceMemory memory;
    CHECK(message_of([&] { launch(Kernel(module, "k"), {{1}, {1024}}, memory, {}); }) == "nothing");
  }
}

TEST_CASE("the error of the first block that has one counts, for every number of threads", "[machine][grid]") {
  // Later blocks fail at once, the fifth one after a while.
  const Module module = word_kernel(R"(
    setp.lt.u32 %p1, %c, 5;
    @%p1 bra GOOD;
    setp.gt.u32 %p2, %c, 5;
    @%p2 trap;
    mov.u32 %r1, 0;
  L: add.u32 %r1, %r1, 1;
    setp.lt.u32 %p3, %r1, 20000;
    @%p3 bra L;
    ld.global.u32 %d, [%out+0x10000000];
  GOOD:)");
  REQUIRE_FALSE(program_of(Kernel(module, "k")).orders_clusters);
  for (const int jobs : {1, 2, 8}) {
    CAPTURE(jobs);
    const std::string text = message_of([&] { words_of(module, {200}, {32}, {.jobs = jobs}); });
    CHECK(text.find("block (5, 0, 0)") != std::string::npos);
    CHECK(text.find("outside of any buffer") != std::string::npos);
  }
}

TEST_CASE("every block runs once, and counts its operations, for every number of threads and every order", "[machine][grid]") {
  const Module module = word_kernel("ld.global.u32 %d, [%out]; add.u32 %d, %d, 1;");
  const Kernel kernel(module, "k");
  REQUIRE_FALSE(program_of(kernel).orders_clusters);
  constexpr std::uint32_t blocks = 300;
  std::uint64_t operations = 0;
  for (const std::uint64_t schedule : {0u, 7u})
    for (const int jobs : {1, 3, 16}) {
      CAPTURE(jobs, schedule);
      DeviceMemory memory;
      const std::uint64_t out = memory.allocate(std::uint64_t{4} * 64 * blocks);
      const LaunchResult result = launch(kernel, {{blocks}, {64}}, memory, {out}, {.jobs = jobs, .schedule = schedule});
      CHECK(memory.read<std::uint32_t>(out, 64 * blocks) == std::vector<std::uint32_t>(64 * blocks, 1));
      if (operations == 0) operations = result.operations;
      CHECK(result.operations == operations);
    }
  CHECK(operations % (2 * blocks) == 0);
}

TEST_CASE("blocks whose warps only wait for others give their turn away, for every number of threads", "[machine][grid]") {
  const Module module = module_of(".param .u64 out", R"(
    .reg .b64 %out; .reg .b32 %i, %n, %came; .reg .pred %first, %waits;
    ld.param.u64 %out, [out];
    mov.u32 %i, %tid.x; mov.u32 %n, %nctaid.x; setp.eq.u32 %first, %i, 0;
    @!%first bra BEHIND;
    atom.global.add.u32 %came, [%out], 1;
  POLL:
    ld.acquire.gpu.global.u32 %came, [%out]; setp.lt.u32 %waits, %came, %n;
    @%waits bra POLL;
  BEHIND:
    bar.sync 0;
    ret;
)",
                                  "sm_90");
  std::set<std::uint64_t> operations;
  for (const int jobs : {1, 2, 7}) {
    DeviceMemory memory;
    const std::uint64_t out = memory.allocate(4, "out");
    operations.insert(launch(Kernel(module, "k"), {{16}, {128}}, memory, {out}, {.jobs = jobs}).operations);
    CHECK(memory.read<std::uint32_t>(out, 1) == std::vector<std::uint32_t>{16});
  }
  CHECK(operations.size() == 1);
  CHECK(*operations.begin() < std::uint64_t{16} * 1024);  // a turn of 1,024 polls would be more than 3,000 operations of each
}

TEST_CASE("what blocks print is in the order of their numbers, for every number of threads", "[machine][grid]") {
  const std::string before = R"(
.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);
.global .align 1 .b8 format[4] = {37, 100, 10, 0};
)";
  const Module module = word_kernel(R"(
    .param .b64 f; .param .b64 a; .param .b32 r; .local .align 8 .b8 numbers[8];
    mov.u32 %r1, %tid.x;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra DONE;
    st.local.u32 [numbers], %c;
    mov.u64 %l1, numbers;
    cvta.local.u64 %l1, %l1;
    mov.u64 %l2, format;
    cvta.global.u64 %l2, %l2;
    st.param.b64 [f], %l2;
    st.param.b64 [a], %l1;
    call.uni (r), vprintf, (f, a);
  DONE:)",
                                    "sm_90", before);
  const Kernel kernel(module, "k");
  REQUIRE_FALSE(program_of(kernel).orders_clusters);
  constexpr std::uint32_t blocks = 60;
  std::string expected;
  for (std::uint32_t i = 0; i < blocks; ++i) expected += std::to_string(i) + "\n";
  for (const int jobs : {1, 4, 16}) {
    CAPTURE(jobs);
    DeviceMemory memory;
    const std::uint64_t out = memory.allocate(std::uint64_t{4} * 32 * blocks);
    CHECK(launch(kernel, {{blocks}, {32}}, memory, {out}, {.jobs = jobs}).printed == expected);
  }
}

}  // namespace warpmat::grid_test
