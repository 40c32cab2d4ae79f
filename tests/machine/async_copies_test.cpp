// cp.async: what lies in shared memory after each wait, and what the check says of copies that are not waited for.

#include "machine/kernel.h"
#include "test.h"

namespace warpmat::async_copies_test {
namespace {

using Words = std::vector<std::uint32_t>;

/// A warp copies `source` to places of 512 bytes each and reads them back; the body leaves its word in %d. %r19 is the tile, %r18 the
/// lane's place, in an order that is no row's, %l19 the lane's source, of 16 bytes.
Module kernel_of(const std::string& body) {
  return module_of(".param .u64 in, .param .u64 out", R"(
    .shared .align 128 .b8 tile[8192];
    .reg .b32 %r<20>, %d; .reg .b64 %l<20>, %out; .reg .pred %p<8>;
    ld.param.u64 %l19, [in]; ld.param.u64 %out, [out];
    mov.u32 %r17, %tid.x; mov.u32 %r19, tile;
    xor.b32 %r16, %r17, 5; shl.b32 %r16, %r16, 4; add.u32 %r18, %r19, %r16;
    mul.wide.u32 %l18, %r17, 16; add.s64 %l19, %l19, %l18;
    mov.u32 %d, 0;
)" + body + R"(
    mul.wide.u32 %l18, %r17, 4; add.s64 %out, %out, %l18; st.global.u32 [%out], %d;
    ret;
)");
}

Words run(const Module& module, const LaunchOptions& options = {}) {
  DeviceMemory memory;
  Words in(2048);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<std::uint32_t>(1000 + i);
  const std::uint64_t from = memory.allocate(in, "in"), to = memory.allocate(128, "out");
  launch(Kernel(module, "k"), {{1}, {32}, 0}, memory, {from, to}, options);
  return memory.read<std::uint32_t>(to, 32);
}

Words words(std::uint32_t (*of)(std::uint32_t lane)) {
  Words all;
  for (std::uint32_t lane = 0; lane < 32; ++lane) all.push_back(of(lane));
  return all;
}

TEST_CASE("Copies land group by group, in whatever order their lanes write", "[machine][copies]") {
  std::string body;
  for (int i = 0; i < 12; ++i)
    body += fmt::format("cp.async.cg.shared.global [%r18+{}], [%l19+{}], 16; cp.async.commit_group;\n", 512 * i, 512 * i);
  // Each wait is for two more groups, and all words that have landed are added up.
  for (int i = 0; i < 12; i += 2) {
    body += fmt::format("cp.async.wait_group {};\n", 10 - i);
    for (int j = 0; j < i + 2; ++j) body += fmt::format("ld.shared.u32 %r0, [%r18+{}]; add.u32 %d, %d, %r0;\n", 512 * j);
  }
  CHECK(run(kernel_of(body)) == words([](std::uint32_t lane) {
          std::uint32_t sum = 0;
          for (std::uint32_t i = 0; i < 12; i += 2)
            for (std::uint32_t j = 0; j < i + 2; ++j) sum += 1000 + 4 * lane + 128 * j;
          return sum;
        }));
}

TEST_CASE("A copy reads as many bytes as it says, and the rest is zero", "[machine][copies]") {
  const std::string load = "cp.async.commit_group; cp.async.wait_group 0; ld.shared.u32 %d, [%r18+4];";
  const Words whole = words([](std::uint32_t lane) { return 1001 + 4 * lane; });
  CHECK(run(kernel_of("mov.u32 %r0, 16; cp.async.cg.shared.global [%r18], [%l19], 16, %r0;" + load)) == whole);
  CHECK(run(kernel_of("and.b32 %r0, %r17, 1; shl.b32 %r0, %r0, 4; cp.async.cg.shared.global [%r18], [%l19], 16, %r0;" + load)) ==
        words([](std::uint32_t lane) { return lane % 2 == 0 ? 0 : 1001 + 4 * lane; }));
  CHECK(run(kernel_of("setp.lt.u32 %p0, %r17, 3; cp.async.cg.shared.global [%r18], [%l19], 16, %p0;" + load)) ==
        words([](std::uint32_t lane) { return lane < 3 ? 0 : 1001 + 4 * lane; }));
  CHECK(run(kernel_of("setp.lt.u32 %p0, %r17, 0; cp.async.cg.shared.global [%r18], [%l19], 16, %p0;" + load)) == whole);
}

TEST_CASE("Lanes that do not copy keep their bytes", "[machine][copies]") {
  CHECK(run(kernel_of("st.shared.u32 [%r18], %r17; setp.ge.u32 %p0, %r17, 20;"
                      "@%p0 cp.async.cg.shared.global [%r18], [%l19], 16; cp.async.wait_all; ld.shared.u32 %d, [%r18];")) ==
        words([](std::uint32_t lane) { return lane < 20 ? lane : 1000 + 4 * lane; }));
}

TEST_CASE("Lanes that have committed other numbers of groups wait for their own", "[machine][copies]") {
  CHECK(run(kernel_of("st.shared.u32 [%r18], %r17; st.shared.u32 [%r18+512], %r17; setp.ge.u32 %p0, %r17, 16;"
                      "@%p0 cp.async.commit_group;"
                      "cp.async.cg.shared.global [%r18], [%l19], 16; cp.async.commit_group;"
                      "@%p0 cp.async.cg.shared.global [%r18+512], [%l19+512], 16; @%p0 cp.async.commit_group;"
                      "cp.async.wait_group 0; ld.shared.u32 %d, [%r18]; ld.shared.u32 %r0, [%r18+512]; add.u32 %d, %d, %r0;")) ==
        words([](std::uint32_t lane) { return lane < 16 ? 1000 + 5 * lane : 2128 + 8 * lane; }));
}

TEST_CASE("A load of a swizzled copy traps before its wait and before the barrier", "[machine][copies][checks]") {
  const std::string copy = "cp.async.cg.shared.global [%r18], [%l19], 16; cp.async.commit_group;";
  const auto message = [](const std::string& body) { return message_of([&] { run(kernel_of(body)); }); };
  CHECK(message(copy + "ld.shared.u32 %d, [%r18];").find("has not been waited for") != std::string::npos);
  CHECK(message(copy + "ld.shared.u32 %d, [%r19+508];").find("has not been waited for") != std::string::npos);
  CHECK(message(copy + "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r0, %r1, %r2, %r3}, [%r18];").find("has not been waited for") !=
        std::string::npos);
  CHECK(message(copy + "cp.async.wait_group 0; ld.shared.u32 %d, [%r18];") == "nothing");
  CHECK(message(copy + "cp.async.wait_group 0; ld.shared.u32 %d, [%r19+512];").find("uninitialised") != std::string::npos);
}

TEST_CASE("Two warps copy the same bytes to the same place, and each waits for its own copy", "[machine][copies][checks]") {
  for (const int first : {0, 1}) {
    CAPTURE(first);
    const Module module = kernel_of(fmt::format(R"(
      and.b32 %r1, %r17, 32; shl.b32 %r2, %r1, 4; sub.u32 %r18, %r18, %r2;
      cvt.u64.u32 %l0, %r2; sub.s64 %l19, %l19, %l0;
      cp.async.cg.shared.global [%r18], [%l19], 16; cp.async.commit_group;
      bar.sync 0;
      setp.eq.u32 %p0, %r1, {};
      @%p0 cp.async.wait_group 0;
      bar.sync 0;
      cp.async.wait_group 0;
      bar.sync 0;
      ld.shared.u32 %d, [%r18];
)",
                                                32 * first));
    const Words in(128, 5);
    DeviceMemory memory;
    const std::uint64_t from = memory.allocate(in, "in"), to = memory.allocate(256, "out");
    launch(Kernel(module, "k"), {{1}, {64}, 0}, memory, {from, to}, {});
    CHECK(memory.read<std::uint32_t>(to, 64) == Words(64, 5));
  }
}

TEST_CASE("A padded tile that a pipeline writes again and again is checked as at first", "[machine][copies][checks]") {
  const std::string place =
      "shr.u32 %r15, %r17, 2; and.b32 %r14, %r17, 3; shl.b32 %r14, %r14, 4; mad.lo.u32 %r15, %r15, 80, %r14;"
      "add.u32 %r15, %r19, %r15;";  // rows of 64 bytes, and 16 that no statement writes
  const std::string copy = "cp.async.cg.shared.global [%r15], [%l19], 16; cp.async.commit_group;", wait = "cp.async.wait_group 0;";
  const std::string load = "ld.shared.u32 %d, [%r15];", round = copy + wait + load;
  const std::string rows = "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r0, %r1, %r2, %r3}, [%r15];";
  const std::string changes = "st.shared.u32 [%r15+4], %r17;", crosses = "cp.async.cg.shared.global [%r15+80], [%l19], 16;" + wait;
  for (const std::string& before : {std::string(), round, round + round, round + changes, round + crosses, round + changes + round}) {
    CAPTURE(before);
    const auto message = [&](const std::string& body) { return message_of([&] { run(kernel_of(place + before + body)); }); };
    CHECK(message(round) == "nothing");
    CHECK(message(copy + wait + rows) == "nothing");
    CHECK(message(copy + load).find("has not been waited for") != std::string::npos);
    CHECK(message(copy + rows).find("has not been waited for") != std::string::npos);
    CHECK(message(copy + "st.shared.u32 [%r19+80], %r17;").find("has not been waited for") != std::string::npos);
    CHECK(message(round + "ld.shared.u32 %d, [%r19+64];").find("uninitialised") != std::string::npos);
    CHECK(message(round + "st.shared.u32 [%r19+64], %r17; ld.shared.u32 %d, [%r19+64];") == "nothing");
  }
}

TEST_CASE("A copy from outside of its buffer names its lane", "[machine][copies]") {
  CHECK(message_of([] { run(kernel_of("cp.async.cg.shared.global [%r18], [%l19+7936], 16;")); }).find("lane 16") != std::string::npos);
  CHECK(message_of([] { run(kernel_of("cp.async.cg.shared.global [%r18+8], [%l19], 16;")); }).find("not a multiple of 16") !=
        std::string::npos);
}

}  // namespace
}  // namespace warpmat::async_copies_test
