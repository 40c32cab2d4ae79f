// What a kernel may take without an end: time, memory, output.

#include "machine/kernel.h"
#include "test.h"

namespace warpmat::bounds_test {
namespace {

double seconds(std::chrono::steady_clock::time_point since) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - since).count();
}

/// The trap of a kernel whose threads poll the word `flag` by `poll`, which sets %p1 while it is to go on.
std::string trap_of_poll(const std::string& poll, Dim3 grid, Dim3 block, Dim3 cluster = {}, int jobs = 1) {
  const Module module = word_kernel(
      ".shared .b32 own; st.shared.u32 [own], 0; mov.u64 %l9, %clock64; mov.u32 %r9, %clock; mov.u64 %l8, %globaltimer;\nL: " + poll +
      "\n@%p1 bra L;");
  DeviceMemory memory;
  const std::uint64_t out = memory.allocate(4 * grid.count() * block.count(), "out");
  return message_of(
      [&] { launch(Kernel(module, "k"), {.grid = grid, .block = block, .cluster = cluster}, memory, {out}, {.jobs = jobs}); });
}

const std::string shared_flag = "ld.volatile.shared.u32 %r1, [own]; setp.eq.u32 %p1, %r1, 0;";
const std::vector<std::string> flags{"ld.volatile.global.u32 %r1, [%out]; setp.eq.u32 %p1, %r1, 0;",
                                     "ld.acquire.gpu.global.u32 %r1, [%out]; setp.eq.u32 %p1, %r1, 0;",
                                     "atom.global.or.b32 %r1, [%out], 0; setp.eq.u32 %p1, %r1, 0;", shared_flag,
                                     "atom.shared.cas.b32 %r1, [own], 1, 0; setp.eq.u32 %p1, %r1, 0;"};
const std::vector<std::string> clocks{"mov.u32 %r2, %clock; add.u32 %d, %d, %r2;", "mov.u64 %l2, %clock64;",
                                      "mov.u64 %l2, %globaltimer; nanosleep.u32 100;",
                                      "mov.u32 %r2, %globaltimer_lo; and.b32 %r2, %r2, 1023; nanosleep.u32 %r2;"};

TEST_CASE("a loop that polls what never changes is a deadlock, whatever clocks it reads", "[machine][bounds]") {
  for (std::size_t i = 0; i < flags.size(); ++i) {
    const std::string poll = clocks[i % clocks.size()] + flags[i];
    INFO(poll);
    CHECK(trap_of_poll(poll, {1}, {32}).find("deadlock") != std::string::npos);
  }
  for (const std::string& clock : clocks) CHECK(trap_of_poll(clock + shared_flag, {1}, {64}).find("deadlock") != std::string::npos);
  CHECK(trap_of_poll(clocks[2] + flags[0], {3}, {64}, {}, 2).find("deadlock") != std::string::npos);
  CHECK(trap_of_poll(clocks[1] + shared_flag, {2}, {64}, {2}).find("deadlock") != std::string::npos);
}

TEST_CASE("a loop that waits for a time between its polls is a deadlock, too", "[machine][bounds]") {
  const auto back_off = [](const char* clock, const char* ticks) {
    return std::string("mov.u64 %l5, ") + clock + ";\nW: mov.u64 %l2, " + clock + "; sub.u64 %l3, %l2, %l5; setp.lt.u64 %p2, %l3, " +
           ticks + "; @%p2 bra W;\n";
  };
  const auto begun = std::chrono::steady_clock::now();
  for (const std::string& flag : flags) {
    INFO(flag);
    CHECK(trap_of_poll(back_off("%globaltimer", "1000000") + flag, {1}, {32}).find("deadlock") != std::string::npos);
    CHECK(trap_of_poll(back_off("%clock64", "1000") + flag, {2}, {64}, {}, 2).find("deadlock") != std::string::npos);
  }
  const std::string twice_as_long =
      "mov.u64 %l2, %globaltimer; sub.u64 %l3, %l2, %l5; setp.lt.u64 %p2, %l3, %l6; @%p2 bra W; shl.b64 %l6, %l6, 1;";
  CHECK(trap_of_poll("mov.u64 %l5, %globaltimer; max.u64 %l6, %l6, 1;\nW: " + twice_as_long + flags[0], {1}, {32}).find("deadlock") !=
        std::string::npos);
  CHECK(trap_of_poll(back_off("%globaltimer", "1000000") + shared_flag, {2}, {64}, {2}).find("deadlock") != std::string::npos);
  CHECK(seconds(begun) < 60);
}

TEST_CASE("lanes that compute for long while others poll are no deadlock", "[machine][bounds]") {
  // The first threads of each block poll the word that the others store when their loop has ended.
  const auto ends = [](const std::string& load, const std::string& store, const char* pollers, Dim3 grid, Dim3 block) {
    const Module module = word_kernel(
        ".shared .b32 own; ld.param.u64 %l9, [out]; mov.u32 %d, 1; mov.u32 %r6, %tid.x; st.volatile.shared.u32 [own], 0; bar.sync 0;"
        "setp.ge.u32 %p1, %r6, " +
        std::string(pollers) + R"(;
    @%p1 bra compute;
L:  )" + load +
        R"( setp.eq.u32 %p2, %r1, 0; @%p2 bra L;
    bra done;
compute:
    mad.lo.u32 %r3, %r3, %r2, 7; add.u32 %r2, %r2, 1; setp.lt.u32 %p3, %r2, 1000000; @%p3 bra compute;
    or.b32 %r3, %r3, 1; )" +
        store + "\ndone:");
    DeviceMemory memory;
    const std::uint64_t out = memory.allocate(4 * grid.count() * block.count(), "out");
    return message_of([&] { launch(Kernel(module, "k"), {grid, block}, memory, {out}, {.jobs = 1, .checks = {.races = false}}); });
  };
  for (const char* load : {"ld.volatile.global.u32 %r1, [%l9];", "mov.u64 %l8, %clock64; atom.global.or.b32 %r1, [%l9], 0;"}) {
    INFO(load);
    CHECK(ends(load, "st.volatile.global.u32 [%l9], %r3;", "32", {1}, {64}) == "nothing");
  }
  CHECK(ends("ld.volatile.global.u32 %r1, [%l9];", "st.volatile.global.u32 [%l9], %r3;", "16", {2}, {32}) == "nothing");
  CHECK(ends("ld.volatile.shared.u32 %r1, [own];", "st.volatile.shared.u32 [own], %r3;", "16", {1}, {32}) == "nothing");
  CHECK(ends("ld.volatile.shared.u32 %r1, [own];", "st.volatile.shared.u32 [own], %r3;", "32", {1}, {64}) == "nothing");
}

TEST_CASE("a loop that waits for a flag or a time ends by the time, however long that is", "[machine][bounds]") {
  const auto until = [](const char* ticks) {
    return std::string("mov.u64 %l2, %clock64; sub.u64 %l3, %l2, %l9; setp.lt.and.u64 %p1, %l3, ") + ticks + ", %p1;";
  };
  for (const std::string& flag : flags) {
    INFO(flag);
    CHECK(trap_of_poll(flag + until("100000"), {2}, {64}) == "nothing");
  }
  for (const std::string& flag : {flags[0], shared_flag}) {
    INFO(flag);
    CHECK(trap_of_poll(flag + until("200000000000"), {1}, {32}) == "nothing");
    CHECK(trap_of_poll(flag + "mov.u32 %r2, %clock; sub.u32 %r3, %r2, %r9; setp.lt.and.u32 %p1, %r3, 3000000000, %p1;", {1}, {32}) ==
          "nothing");
  }
  CHECK(trap_of_poll(shared_flag + until("200000000000"), {2}, {64}, {2}) == "nothing");
}

TEST_CASE("lanes that wait for a time while others poll end by the time", "[machine][bounds]") {
  const Module module = word_kernel(R"(
    ld.param.u64 %l9, [out]; mov.u32 %r6, %tid.x; mov.u32 %d, 1; setp.ge.u32 %p1, %r6, 32; @%p1 bra wait;
L:  ld.volatile.global.u32 %r1, [%l9]; setp.eq.u32 %p2, %r1, 0; @%p2 bra L;
    bra done;
wait:
    mov.u64 %l1, %clock64;
W:  mov.u64 %l2, %clock64; sub.u64 %l3, %l2, %l1; setp.lt.u64 %p3, %l3, 1000000000000; @%p3 bra W;
    st.volatile.global.u32 [%l9], %d;
done:)");
  CHECK(words_of(module, {1}, {64}, {.checks = {.races = false}}) == std::vector<std::uint32_t>(64, 1));
}

TEST_CASE("a loop that only reads a clock waits for as many operations", "[machine][bounds]") {
  const Module module = word_kernel(R"(
    mov.u64 %l1, %clock64;
L:  mov.u64 %l2, %clock64;
    sub.u64 %l3, %l2, %l1;
    setp.lt.u64 %p1, %l3, 100000;
    @%p1 bra L;
    cvt.u32.u64 %d, %l3;)");
  const auto waited = words_of(module, {2}, {32});
  for (const std::uint32_t ticks : waited) CHECK((ticks >= 100000 && ticks < 110000));
}

/// The kernel prints `format` with the arguments 7 and 2000000000, each of 32 bits.
Module printing_kernel(const std::string& format) {
  std::string characters;
  for (const char c : format) characters += std::to_string(static_cast<int>(c)) + ", ";
  return word_kernel(
      R"(
    .local .align 8 .b8 list[64]; .reg .b64 %list;
    mov.u64 %list, list; cvta.local.u64 %list, %list;
    st.u32 [%list], 2000000000; st.u32 [%list+4], 2000000000; st.u64 [%list+8], 7;
    mov.u64 %l2, format; cvta.global.u64 %l2, %l2;
    { .param .b64 p0; .param .b64 p1; .param .b32 r;
    st.param.b64 [p0], %l2; st.param.b64 [p1], %list;
    call (r), vprintf, (p0, p1);
    ld.param.b32 %d, [r]; })",
      "sm_90",
      ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);\n.global .align 1 .b8 format[] = {" + characters + "0};");
}

std::string printed(const std::string& format, const LaunchOptions& options = {}, std::uint32_t threads = 1) {
  DeviceMemory memory;
  const std::uint64_t out = memory.allocate(4 * threads, "out");
  return launch(Kernel(printing_kernel(format), "k"), {{1}, {threads}}, memory, {out}, options).printed;
}

TEST_CASE("printf: a width or precision of more than a mebibyte is a trap, not minutes", "[machine][bounds]") {
  const auto begun = std::chrono::steady_clock::now();
  for (const char* format : {"%2000000000d", "%.2147483647d", "%*d", "%.*d", "%.2000000000f", "%-2000000000s", "%99999999999999999999d",
                             "%1048577x", "%2000000000c", "%2000000000p", "%.2000000000a", "%*.*e"}) {
    INFO(format);
    CHECK(message_of([&] { printed(format); }).find("printf: '" + std::string(format)) != std::string::npos);
  }
  CHECK(seconds(begun) < 10);
  CHECK(printed("%1048576d").size() == 1 << 20);
}

TEST_CASE("printf: conversions, and what is none, are as by the host's printf", "[machine][bounds]") {
  CHECK(printed("%d|%u") == "2000000000|2000000000");
  CHECK(printed("%5c|") == "    " + std::string(1, '\0') + "|");
  CHECK(printed("%-12d|%+d") == "2000000000  |+2000000000");
  CHECK(printed("%.12d") == "002000000000");
  CHECK(printed("%#x %lld") == "0x77359400 7");
  CHECK(printed("%5k|%") == "%5k|%");
  CHECK(printed("100%% %hhu") == "100% 0");
}

TEST_CASE("printf: all output together has a limit", "[machine][bounds]") {
  CHECK(printed("%1000d", {.most_printed = 32000}, 32).size() == 32000);
  CHECK(message_of([] { printed("%1000d", {.most_printed = 31999}, 32); }).find("31999") != std::string::npos);
  CHECK(message_of([] { printed("%1000000d%1000000d", {}, 1024); }).find("printed more than") != std::string::npos);
}

TEST_CASE("device memory and the memory of blocks have limits", "[machine][bounds]") {
  DeviceMemory memory;
  memory.set_most_bytes(1000);
  const std::uint64_t a = memory.allocate(600, "a");
  CHECK(message_of([&] { static_cast<void>(memory.allocate(401, "b")); }).find("buffer 'b' of 401 bytes") != std::string::npos);
  CHECK_THROWS_AS(memory.allocate(~std::uint64_t{0} / 2), std::bad_alloc);
  CHECK_THROWS_AS(memory.place(0x1000, std::vector<std::uint8_t>(401), "b"), MemoryLimit);
  memory.free(a);
  memory.place(0x1000, std::vector<std::uint8_t>(1000), "b");
  CHECK_THROWS_AS(memory.allocate(1), MemoryLimit);
  memory.remove(0x1000);
  CHECK(memory.find(memory.allocate(1000)).has_value());

  const Module module = word_kernel(".local .b8 own[4096]; .reg .b64 %own; mov.u64 %own, own; ld.local.u32 %d, [%own];");
  const auto run = [&](std::uint64_t most) { return words_of(module, {4}, {32}, {.most_block_bytes = most}); };
  CHECK(run(1 << 20) == std::vector<std::uint32_t>(128));
  CHECK_THROWS_AS(run(4096 * 32), MemoryLimit);
}

TEST_CASE("work that no statement waits for has a limit", "[machine][bounds]") {
  const std::string copies = R"(
    .shared .align 16 .b8 to[16]; .shared .align 8 .b64 bar;
    mov.u32 %r1, 0;
L:  %COPY
    add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 10000000; @%p1 bra L;)";
  for (const std::string copy :
       {"cp.async.ca.shared.global [to], [%out], 4;", "cp.async.bulk.global.shared::cta.bulk_group [%out], [to], 16;",
        "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [to], %r1, [bar];",
        "cp.async.mbarrier.arrive.noinc.shared.b64 [bar];"}) {
    INFO(copy);
    std::string body = copies;
    body.replace(body.find("%COPY"), 5, copy);
    if (copy.find("bar") != std::string::npos) body.replace(body.find("mov.u32 %r1"), 0, "mbarrier.init.shared.b64 [bar], 1000000;\n");
    DeviceMemory memory;
    const std::uint64_t out = memory.allocate(64, "out");
    const std::string said = message_of(
        [&] { launch(Kernel(word_kernel(body), "k"), {}, memory, {out}, {.checks = {.uninitialised = false, .copies = false}}); });
    CHECK(said.find("no statement waits for them") != std::string::npos);
  }
}

TEST_CASE("a launch ends after its seconds, whatever it does", "[machine][bounds]") {
  for (const char* const body :
       {"L: bra L;", "L: st.volatile.global.u32 [%out], %r1; add.u32 %r1, %r1, 1; bra L;", "L: mov.u64 %l1, %clock64; bra L;"}) {
    const Module module = word_kernel(body);
    for (const int jobs : {1, 2})
      CHECK(message_of([&] { words_of(module, {2}, {64}, {.jobs = jobs, .most_seconds = 0.05}); }).find("longer than 0.05 s") !=
            std::string::npos);
  }
  CHECK(message_of([&] { words_of(word_kernel(""), {2}, {64}, {.most_seconds = 1e300}); }) == "nothing");
  CHECK(message_of([&] { words_of(word_kernel(""), {2}, {64}, {.most_seconds = -1}); }).find("0 or more") != std::string::npos);
  CHECK(message_of([&] { words_of(word_kernel(""), {2}, {64}, {.jobs = -1}); }).find("jobs") != std::string::npos);
}

TEST_CASE("an index that leaves its shared variable for the next one is reported", "[machine]") {
  const std::string variables = ".shared .align 4 .b8 a[64]; .shared .align 4 .b8 b[128]; .extern .shared .align 4 .b8 rest[];";
  const std::string index = "mul.lo.u32 %r2, %i, 4; add.u32 %r2, %r2, %r7;";  // of each thread's word, and %r7 bytes
  const auto trap = [&](int from, const std::string& use) {
    return trap_of(word_kernel(variables + fmt::format("mov.u32 %r7, {};", from) + index + use, "sm_90"), {16}, 256);
  };
  const std::string uses[] = {
      "mov.u32 %r1, a; add.u32 %r3, %r1, %r2; st.shared.u32 [%r3], %i;",
      "mov.u32 %r1, a; add.u32 %r3, %r2, %r1; sub.u32 %r3, %r3, 8; ld.shared.u32 %r4, [%r3 + 8];",
      "mov.u32 %r1, a; mad.lo.u32 %r3, %r2, 1, %r1; atom.shared.add.u32 %r4, [%r3], 1;",
      "mov.u64 %l1, a; cvta.shared.u64 %l1, %l1; cvt.u64.u32 %l2, %r2; add.u64 %l1, %l1, %l2; st.u32 [%l1], %i;",
      "mov.u32 %r3, a; add.u32 %r3, %r3, %r2; mov.u32 %r5, 0; again: st.shared.u32 [%r3], %i; add.u32 %r3, %r3, 0; add.u32 %r5, %r5, 1; "
      "setp.lt.u32 %p1, %r5, 2; @%p1 bra again;",
  };
  const std::string other = "mov.u32 %r8, b; st.shared.u32 [%r8], %i; mov.u32 %r8, rest; st.shared.u32 [%r8 + 64], %i;";
  for (const std::string& use : uses) {
    INFO(use);
    CHECK_THAT(trap(4, other + use), ContainsSubstring("lane 15") && ContainsSubstring("'a'") && ContainsSubstring("0 bytes into 'b'"));
    CHECK(trap(0, "st.shared.u32 [a], 0;" + other + "mov.u32 %r1, a; add.u32 %r3, %r1, %r2; st.shared.u32 [%r3], 0; bar.sync 0;" + use) ==
          "no trap");
  }
  // An address of two variables belongs to neither, nor does one that was selected.
  CHECK(trap(4, other + "mov.u32 %r1, a; mov.u32 %r3, b; sub.u32 %r3, %r3, %r1; add.u32 %r3, %r3, %r1; add.u32 %r3, %r3, %r2; "
                        "st.shared.u32 [%r3], %i;") == "no trap");
  CHECK(trap(4, other + "mov.u32 %r1, a; mov.u32 %r3, b; setp.eq.u32 %p1, %i, 99; selp.u32 %r3, %r1, %r3, %p1; add.u32 %r3, %r3, %r2; "
                        "st.shared.u32 [%r3], %i;") == "no trap");
}

}  // namespace
}  // namespace warpmat::bounds_test
