
#include <warpmat/launch/running_launch.h>

#include "machine/kernel.h"
#include "test.h"

// A launch whose warps only wait for memory is paused, and goes on when it is written.

namespace warpmat::paused_launch_test {
namespace {

using machine::Patience;

const std::string poll = "W: ld.volatile.global.u32 %r1, [%out]; setp.eq.u32 %p1, %r1, 0; @%p1 bra W;\n";
const std::string back_off =
    "W: mov.u64 %l5, %clock64;\nV: mov.u64 %l2, %clock64; sub.u64 %l3, %l2, %l5; setp.lt.u64 %p2, %l3, 1000; @%p2 bra V;\n"
    "ld.volatile.global.u32 %r1, [%out]; setp.eq.u32 %p1, %r1, 0; @%p1 bra W;\n";
const std::string at_barrier = "setp.ne.u32 %p3, %i, 0; @%p3 bra B;\n" + poll + "B: bar.sync 0;\n";
/// One thread looks, and the block or the warp hears it.
const std::string told_by_barrier =
    ".shared .b32 seen;\nW: setp.ne.u32 %p3, %i, 0; @%p3 bra B;\nld.volatile.global.u32 %r1, [%out]; st.shared.u32 [seen], %r1;\n"
    "B: bar.sync 0; ld.shared.u32 %r1, [seen]; bar.sync 0; setp.eq.u32 %p1, %r1, 0; @%p1 bra W;\n";
const std::string told_by_shuffle =
    "W: and.b32 %r2, %i, 31; mov.u32 %r1, 0; setp.ne.u32 %p3, %r2, 0; @%p3 bra B;\nld.volatile.global.u32 %r1, [%out];\n"
    "B: shfl.sync.idx.b32 %r1, %r1, 0, 31, -1; setp.eq.u32 %p1, %r1, 0; @%p1 bra W;\n";
/// One statement reads words that differ.
const std::string several =
    "W: mov.u64 %l1, %out; mov.u32 %r2, 0;\nV: ld.volatile.global.u32 %r1, [%l1+8]; add.u64 %l1, %l1, 4; add.u32 %r2, %r2, 1;\n"
    "setp.lt.u32 %p2, %r2, 4; @%p2 bra V;\nld.volatile.global.u32 %r1, [%out]; setp.eq.u32 %p1, %r1, 0; @%p1 bra W;\n";
const std::string weak = "W: ld.global.u32 %r1, [%out]; membar.gl; setp.eq.u32 %p1, %r1, 0; @%p1 bra W;\n";
const std::string add_zero = "W: atom.global.or.b32 %r1, [%out], 0; setp.eq.u32 %p1, %r1, 0; @%p1 bra W;\n";

/// Each thread waits for a word, and then counts in the next one.
Kernel waiting_kernel(const std::string& wait) {
  return Kernel(Module(R"(.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out) {
  .reg .b64 %l<9>, %out; .reg .b32 %r<9>, %i; .reg .pred %p<5>;
  ld.param.u64 %out, [out];
  mov.u32 %i, %tid.x;
)" + wait + "red.global.add.u32 [%out+4], 1;\nret;\n}\n"),
                "k");
}

void write(DeviceMemory& memory, std::uint64_t address, std::uint32_t word) {
  std::memcpy(memory.bytes(address, sizeof word).data(), &word, sizeof word);
}

TEST_CASE("a launch that waits is paused until memory is written, on any number of threads", "[machine][paused]") {
  for (const std::string& wait : {poll, back_off, at_barrier, add_zero, told_by_barrier, told_by_shuffle, several, weak})
    for (const int jobs : {1, 3, 8})
      for (const std::uint32_t blocks : {1u, 5u}) {
        CAPTURE(wait, jobs, blocks);
        DeviceMemory memory;
        const std::uint64_t out = memory.allocate(std::vector<std::uint32_t>{0, 0, 1, 0, 1, 0}, "out");
        const LaunchOptions options{.jobs = jobs};
        RunningLaunch launch(waiting_kernel(wait), {{blocks}, {64}}, memory, {out}, options);
        CHECK_FALSE(launch.run(Patience::brief));
        CHECK_FALSE(launch.run(Patience::brief));
        CHECK_FALSE(launch.moved());
        CHECK_FALSE(launch.run(Patience::full));
        CHECK(memory.read<std::uint32_t>(out, 2)[1] == 0);
        write(memory, out, 1);
        REQUIRE(launch.run(Patience::brief));
        CHECK(memory.read<std::uint32_t>(out, 2)[1] == 64 * blocks);
        CHECK(launch.result().operations != 0);
      }
}

TEST_CASE("a paused launch that nothing can wake has a deadlock at its poll", "[machine][paused]") {
  DeviceMemory memory;
  const std::uint64_t out = memory.allocate(std::vector<std::uint32_t>{0, 0}, "out");
  const LaunchOptions options;
  RunningLaunch launch(waiting_kernel(back_off), {{2}, {32}}, memory, {out}, options);
  CHECK_FALSE(launch.run(Patience::brief));
  try {
    launch.run(Patience::last);
    FAIL("it ends");
  } catch (const Trap& trap) {
    CHECK(trap.kind == Trap::Kind::deadlock);
    CHECK(trap.site.statement.starts_with("ld.volatile"));
  }
}

TEST_CASE("a loop that stores or waits at barriers while it polls has a deadlock, too", "[machine][paused]") {
  for (const std::string& wait : {told_by_barrier, told_by_shuffle, several, weak}) {
    CAPTURE(wait);
    DeviceMemory memory;
    const std::uint64_t out = memory.allocate(std::vector<std::uint32_t>{0, 0, 1, 0, 1, 0}, "out");
    const LaunchOptions options;
    RunningLaunch launch(waiting_kernel(wait), {{2}, {40}}, memory, {out}, options);
    CHECK_FALSE(launch.run(Patience::brief));
    try {
      for (int i = 0; i < 3; ++i) static_cast<void>(launch.run(Patience::last));
      FAIL("it goes on");
    } catch (const Trap& trap) {
      CHECK(trap.kind == Trap::Kind::deadlock);
    }
  }
}

TEST_CASE("a loop of weak loads that counts its rounds ends by itself", "[machine][paused]") {
  DeviceMemory memory;
  const std::uint64_t out = memory.allocate(std::vector<std::uint32_t>{0, 0}, "out");
  const LaunchOptions options;
  const std::string counts =
      "mov.u32 %r2, 0;\nW: ld.global.u32 %r1, [%out]; membar.gl; add.u32 %r2, %r2, 1;\n"
      "setp.eq.u32 %p1, %r1, 0; setp.lt.and.u32 %p1, %r2, 100000, %p1; @%p1 bra W;\n";
  RunningLaunch launch(waiting_kernel(counts), {{2}, {32}}, memory, {out}, options);
  CHECK(launch.run(Patience::brief));
  CHECK(memory.read<std::uint32_t>(out, 2)[1] == 64);
}

TEST_CASE("memory may be freed and allocated while a launch is paused", "[machine][paused]") {
  for (const Patience patience : {Patience::brief, Patience::full, Patience::last}) {
    CAPTURE(static_cast<int>(patience));
    DeviceMemory memory;
    const std::uint64_t out = memory.allocate(std::vector<std::uint32_t>{0, 0}, "out"), other = memory.allocate(64, "other");
    const LaunchOptions options;
    RunningLaunch launch(waiting_kernel(poll), {{1}, {32}}, memory, {out}, options);
    CHECK_FALSE(launch.run(Patience::brief));
    memory.free(other);
    for (int i = 0; i < 100; ++i) static_cast<void>(memory.allocate(64, "more"));
    write(memory, out, 1);
    CHECK(launch.run(patience));
    RunningLaunch late(waiting_kernel(add_zero), {{1}, {32}}, memory, {out}, options);
    write(memory, out, 0);
    CHECK_FALSE(late.run(Patience::brief));
    memory.free(out);
    CHECK_THROWS_WITH(late.run(patience), ContainsSubstring("in no buffer") || ContainsSubstring("freed"));
  }
}

}  // namespace
}  // namespace warpmat::paused_launch_test
